//! How much of a model's context window a call of it has taken.

use serde::{Deserialize, Serialize};

use super::flat_json::Fields;

/// What the last call of the model for an answer came to, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct Usage {
    /// What the model was shown: the instructions, the tools, the conversation.
    pub input_tokens: usize,
    /// What it said, its thinking included.
    pub output_tokens: usize,
    /// The model server has not counted: these are Parlor's estimates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// What Parlor had estimated the input to be, before any correction: the next estimate is corrected by it.
    pub estimate: usize,
    /// How many tokens the model can take, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<usize>,
}

impl Usage {
    /// All that was in the window when the answer was whole.
    pub fn total(&self) -> usize {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// How full the window was, in percent; `None` if nobody knows how large it is.
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
        // A server that forgets the beginning counts on.
        assert_eq!(usage(Some(500)).percent(), Some(200));
    }
}
