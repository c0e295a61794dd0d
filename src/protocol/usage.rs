//! The use of a model's context window by one model call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flat_json::Fields;

/// The token usage of the last model call of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct Usage {
    /// The tokens of the input: the instructions, the tools, the conversation.
    pub input_tokens: usize,
    /// The tokens of the output, reasoning included.
    pub output_tokens: usize,
    /// True if the model server has not counted: the numbers are Parlor's estimates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// Parlor's uncorrected estimate of the input, from which the next estimate is corrected.
    pub estimate: usize,
    /// The size of the model's context window in tokens, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<usize>,
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
    fn percent_needs_a_known_window() {
        let usage = |window| Usage {
            input_tokens: 900,
            output_tokens: 100,
            estimated: false,
            estimate: 850,
            window,
        };
        assert_eq!(usage(Some(4000)).percent(), Some(25));
        assert_eq!(usage(None).percent(), None);
        assert_eq!(usage(Some(0)).percent(), None);
        // A server that drops the beginning of the input still counts it.
        assert_eq!(usage(Some(500)).percent(), Some(200));
    }
}
