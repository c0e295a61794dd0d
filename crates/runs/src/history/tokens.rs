//! An estimate of the number of tokens of a text, without the model's own tokenizer.
//!
//! The estimate is a heuristic: four ASCII characters a token, which fits English and code with
//! current tokenizers, and three quarters of a token for any other character, which is too much for
//! Cyrillic and about right for Chinese; four more for each message, and eight for each tool call.
//! If the model server has counted an earlier call, [`TokenScale`] scales the estimate to that
//! count, so the estimate only has to be the same for the same text.

use std::sync::Arc;

pub use parlor_model::tokens::{BYTES_PER_TOKEN, estimate_text, truncate_to_tokens};
use parlor_model::{ModelMessage, ToolSpec};
use parlor_protocol::{ProviderData, Usage};

/// The cost of a message besides its text: its role, and the separators around it.
const TOKENS_PER_MESSAGE: usize = 4;
/// The cost of a tool call besides its text.
const TOKENS_PER_CALL: usize = 8;

/// Estimates the tokens of a message that is only text: instructions, or a user's message.
pub fn estimate_text_message(text: &str) -> usize {
    TOKENS_PER_MESSAGE + estimate_text(text)
}

/// Estimates the tokens of a message.
pub fn estimate_message(message: &ModelMessage) -> usize {
    let tokens = match message {
        ModelMessage::System(text) | ModelMessage::User(text) => return estimate_text_message(text),
        ModelMessage::Assistant {
            text,
            thinking,
            tool_calls,
            provider_data,
        } => {
            let calls = tool_calls.iter();
            let calls = calls.map(|call| {
                TOKENS_PER_CALL
                    + estimate_text(&call.name)
                    + estimate_text(&call.arguments)
                    + estimate_provider_data(&call.provider_data)
            });
            let output = estimate_text(text) + thinking.as_deref().map_or(0, estimate_text);
            output + estimate_provider_data(provider_data) + calls.sum::<usize>()
        }
        ModelMessage::File(file) => file.tokens,
        ModelMessage::Tool { output, .. } => TOKENS_PER_CALL + estimate_text(output),
    };
    TOKENS_PER_MESSAGE + tokens
}

fn estimate_provider_data(provider_data: &[ProviderData]) -> usize {
    provider_data
        .iter()
        .map(|data| estimate_text(data.value.as_str()))
        .sum()
}

/// Estimates the tokens of the tool definitions.
pub fn estimate_tools(tools: &[Arc<ToolSpec>]) -> usize {
    let of_tool = |tool: &Arc<ToolSpec>| {
        TOKENS_PER_CALL
            + estimate_text(&tool.name)
            + estimate_text(&tool.description)
            + estimate_text(&tool.input_schema.to_string())
    };
    tools.iter().map(of_tool).sum()
}

/// The number of tokens that the model server counts per thousand estimated tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenScale(usize);

impl TokenScale {
    /// The scale before the first count.
    pub const UNKNOWN: Self = Self(1000);

    /// Computes the scale from a counted call. A server that counts only uncached tokens reports
    /// less than half and is ignored; one that reports more than three times the estimate counts
    /// something else as well.
    pub fn from_usage(usage: &Usage) -> Self {
        if usage.estimated || usage.estimate == 0 {
            return Self::UNKNOWN;
        }
        match usage.input_tokens.saturating_mul(1000) / usage.estimate {
            ..500 => Self::UNKNOWN,
            thousandths => Self(thousandths.min(3000)),
        }
    }

    /// Converts an estimate to the server's count.
    pub fn to_counted(self, estimated: usize) -> usize {
        estimated.saturating_mul(self.0).div_ceil(1000)
    }

    /// Converts a count to the largest estimate for which the server counts no more than that.
    pub fn to_estimated(self, counted: usize) -> usize {
        counted.saturating_mul(1000) / self.0
    }
}

#[cfg(test)]
mod tests {
    use fuzzing::properties;
    use proptest::prelude::*;

    use super::*;
    use parlor_protocol::TokenTotals;

    #[test]
    fn estimates_are_close_to_tokenizers() {
        assert_eq!(estimate_text(""), 0);
        assert_eq!(estimate_text("The quick brown fox jumps over the lazy dog."), 11);
        assert_eq!(estimate_text("日本語の質問"), 5);
        assert_eq!(estimate_text("é"), 1);
    }

    #[test]
    fn scales_estimates_by_plausible_counts() {
        let counted = |input_tokens, estimated| Usage {
            input_tokens,
            output_tokens: 0,
            estimated,
            estimate: 1000,
            window: None,
            totals: TokenTotals::default(),
        };
        assert_eq!(TokenScale::from_usage(&counted(1200, false)).to_counted(100), 120);
        assert_eq!(TokenScale::from_usage(&counted(1200, true)), TokenScale::UNKNOWN);
        assert_eq!(TokenScale::from_usage(&counted(3, false)), TokenScale::UNKNOWN);
        assert_eq!(
            TokenScale::from_usage(&counted(100_000, false)).to_counted(100),
            300
        );
    }

    properties! {
        256;

        #[test]
        fn truncates_to_the_longest_prefix(text in "[a-zé日 ]{0,60}", most in 0_usize..30) {
            let first = truncate_to_tokens(&text, most);
            prop_assert!(text.starts_with(first) && estimate_text(first) <= most);
            let longer = text[first.len()..].chars().next().map(|next| format!("{first}{next}"));
            prop_assert!(longer.is_none_or(|longer| estimate_text(&longer) > most));
        }

        #[test]
        fn estimate_never_exceeds_the_count(counted in 0_usize..2_000_000, thousandths in 500_usize..=3000) {
            let scale = TokenScale(thousandths);
            prop_assert!(scale.to_counted(scale.to_estimated(counted)) <= counted);
        }
    }
}
