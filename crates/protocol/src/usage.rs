//! The use of a model's context window by one model call, and the tokens and the cost of all calls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Dollars, flat_json::Fields};

/// The maximum count of tokens. A sum never becomes larger, since the page's integers are shorter.
pub const MAX_TOKENS: usize = i32::MAX as usize;

/// The token usage of the last model call of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct Usage {
    /// The tokens of the input: the instructions, the tools, the conversation.
    pub input_tokens: usize,
    /// The tokens of the output, thinking included.
    pub output_tokens: usize,
    /// True if the model server has not counted: the numbers are Parlor's estimates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// Parlor's uncorrected estimate of the input, from which the next estimate is corrected.
    pub estimate: usize,
    /// The size of the model's context window in tokens, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<usize>,
    /// The tokens and the cost of all model calls of the answer so far.
    #[serde(default, skip_serializing_if = "TokenTotals::is_empty")]
    pub totals: TokenTotals,
}

/// The tokens and the cost of several model calls. Each part is within its whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, try_from = "Fields")]
#[schemars(!try_from)]
pub struct TokenTotals {
    /// The number of calls.
    pub calls: usize,
    /// The whole input, cached or not.
    pub input_tokens: usize,
    /// The whole output, thinking included.
    pub output_tokens: usize,
    /// The part of the input that was read from the servers' caches.
    #[serde(skip_serializing_if = "is_zero")]
    pub cached_input_tokens: usize,
    /// The part of the input that was written to the servers' caches.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write_tokens: usize,
    /// The part of the output that is thinking.
    #[serde(skip_serializing_if = "is_zero")]
    pub thinking_tokens: usize,
    /// The part of the input that is images.
    #[serde(skip_serializing_if = "is_zero")]
    pub image_input_tokens: usize,
    /// The part of the output that is images.
    #[serde(skip_serializing_if = "is_zero")]
    pub image_output_tokens: usize,
    /// The number of calls whose tokens are Parlor's estimates.
    #[serde(skip_serializing_if = "is_zero")]
    pub estimated_calls: usize,
    /// The number of calls whose cost is unknown.
    #[serde(skip_serializing_if = "is_zero")]
    pub unpriced_calls: usize,
    /// The cost in US dollars of the calls whose cost is known.
    pub cost: Dollars,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl TokenTotals {
    /// True without any call.
    pub fn is_empty(&self) -> bool {
        self.calls == 0
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let sum = |one: usize, other: usize| one.saturating_add(other).min(MAX_TOKENS);
        Self {
            calls: sum(self.calls, other.calls),
            input_tokens: sum(self.input_tokens, other.input_tokens),
            output_tokens: sum(self.output_tokens, other.output_tokens),
            cached_input_tokens: sum(self.cached_input_tokens, other.cached_input_tokens),
            cache_write_tokens: sum(self.cache_write_tokens, other.cache_write_tokens),
            thinking_tokens: sum(self.thinking_tokens, other.thinking_tokens),
            image_input_tokens: sum(self.image_input_tokens, other.image_input_tokens),
            image_output_tokens: sum(self.image_output_tokens, other.image_output_tokens),
            estimated_calls: sum(self.estimated_calls, other.estimated_calls),
            unpriced_calls: sum(self.unpriced_calls, other.unpriced_calls),
            cost: self.cost.saturating_add(other.cost),
        }
    }
}

impl Usage {
    /// All tokens in the window when the answer was complete.
    pub fn total(&self) -> usize {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// The used part of the window in percent; `None` if its size is unknown.
    pub fn percent(&self) -> Option<usize> {
        let window = self.window.filter(|window| *window > 0)?;
        Some(self.total().saturating_mul(100) / window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_never_overflow() {
        let most = TokenTotals {
            calls: 1,
            input_tokens: MAX_TOKENS,
            cost: Dollars(5),
            ..TokenTotals::default()
        };
        let sum = most.plus(most);
        assert_eq!(
            (sum.calls, sum.input_tokens, sum.cost),
            (2, MAX_TOKENS, Dollars(10))
        );
        let written = serde_json::to_vec(&sum).unwrap();
        assert_eq!(super::super::json::parse(&written), Ok(sum));
    }

    #[test]
    fn percent_needs_a_known_window() {
        let usage = |window| Usage {
            input_tokens: 900,
            output_tokens: 100,
            estimated: false,
            estimate: 850,
            window,
            totals: TokenTotals::default(),
        };
        assert_eq!(usage(Some(4000)).percent(), Some(25));
        assert_eq!(usage(None).percent(), None);
        assert_eq!(usage(Some(0)).percent(), None);
        // A server that drops the beginning of the input still counts it.
        assert_eq!(usage(Some(500)).percent(), Some(200));
    }
}
