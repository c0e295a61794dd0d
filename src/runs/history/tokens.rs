//! How many tokens a text comes to, as far as that can be said without the model's own tokenizer.
//!
//! The estimate is a heuristic: four ASCII characters a token, which is what English and code come to with the tokenizers of
//! these years, and three quarters of a token for any other character, which is too much for Cyrillic and about right for
//! Chinese; four more for each message, and eight for each call of a tool. Where the model server has counted the call
//! before, [`Scale`] brings the estimate to its count, so that what matters is only that it is the same for the same text.

use std::sync::Arc;

pub use crate::model::tokens::{BYTES_PER_TOKEN, estimate_text, truncate_to_tokens};
use crate::{
    model::{ModelMessage, ToolSpec},
    protocol::{Opaque, Usage},
};

/// What a message costs besides its text: its role, and what stands between it and the next.
const TOKENS_PER_MESSAGE: usize = 4;
/// The same for a call of a tool.
const TOKENS_PER_CALL: usize = 8;

/// What a message comes to that is nothing but text: instructions, or what a person says.
pub fn estimate_text_message(text: &str) -> usize {
    TOKENS_PER_MESSAGE + estimate_text(text)
}

/// What a message comes to.
pub fn estimate_message(message: &ModelMessage) -> usize {
    let said = match message {
        ModelMessage::System(text) | ModelMessage::User(text) => return estimate_text_message(text),
        ModelMessage::Assistant {
            text,
            thinking,
            tool_calls,
            opaque,
        } => {
            let calls = tool_calls.iter();
            let calls = calls.map(|call| {
                TOKENS_PER_CALL
                    + estimate_text(&call.name)
                    + estimate_text(&call.arguments)
                    + estimate_opaque(&call.opaque)
            });
            let said = estimate_text(text) + thinking.as_deref().map_or(0, estimate_text);
            said + estimate_opaque(opaque) + calls.sum::<usize>()
        }
        ModelMessage::Tool { output, .. } => TOKENS_PER_CALL + estimate_text(output),
    };
    TOKENS_PER_MESSAGE + said
}

fn estimate_opaque(opaque: &[Opaque]) -> usize {
    opaque.iter().map(|data| estimate_text(data.value.as_str())).sum()
}

/// What it comes to that the model is told of its tools.
pub fn estimate_tools(tools: &[Arc<ToolSpec>]) -> usize {
    let of_tool = |tool: &Arc<ToolSpec>| {
        TOKENS_PER_CALL
            + estimate_text(&tool.name)
            + estimate_text(&tool.description)
            + estimate_text(&tool.parameters.to_string())
    };
    tools.iter().map(of_tool).sum()
}

/// How many tokens the model server counts for a thousand that are estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenScale(usize);

impl TokenScale {
    /// Nobody has counted yet.
    pub const UNKNOWN: Self = Self(1000);

    /// What a call that was counted tells. A server that counts only what it had not seen before tells less than half, and is
    /// not believed; one that tells more than three times as much counts something else as well.
    pub fn from_usage(usage: &Usage) -> Self {
        if usage.estimated || usage.estimate == 0 {
            return Self::UNKNOWN;
        }
        match usage.input_tokens.saturating_mul(1000) / usage.estimate {
            ..500 => Self::UNKNOWN,
            thousandths => Self(thousandths.min(3000)),
        }
    }

    /// What the server would count.
    pub fn to_counted(self, estimated: usize) -> usize {
        estimated.saturating_mul(self.0).div_ceil(1000)
    }

    /// The most that may be estimated, for the server to count no more than this.
    pub fn to_estimated(self, counted: usize) -> usize {
        counted.saturating_mul(1000) / self.0
    }
}

#[cfg(test)]
mod tests {
    use fuzzing::properties;
    use proptest::prelude::*;

    use super::*;

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
