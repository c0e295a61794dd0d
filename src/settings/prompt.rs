//! The length of the system prompt.

use serde::Deserialize;

/// The system prompt: how long it may be.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PromptSettings {
    /// The largest context window, in tokens, that counts as small. 0 means that none does.
    pub small_window: usize,
}

/// The prompt that an endpoint's models are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptLength {
    /// Short in a small window, full in others and where the window is unknown.
    #[default]
    Auto,
    /// Identity and one line, with what the person wants and looks at.
    Short,
    /// All that the model and the page can use.
    Full,
}

impl Default for PromptSettings {
    fn default() -> Self {
        Self { small_window: 8192 }
    }
}

impl PromptSettings {
    /// True if a model is given the short prompt. A window that nobody knows is mostly a hosted model's, which is large.
    pub fn is_short(&self, length: PromptLength, window: Option<usize>) -> bool {
        match length {
            PromptLength::Short => true,
            PromptLength::Full => false,
            PromptLength::Auto => window.is_some_and(|window| window <= self.small_window),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoint_overrides_the_window() {
        use PromptLength::{Auto, Full, Short};
        let settings = PromptSettings::default();
        for (length, window, is_short) in [
            (Auto, Some(8192), true),
            (Auto, Some(8193), false),
            (Auto, None, false),
            (Short, Some(1_000_000), true),
            (Short, None, true),
            (Full, Some(512), false),
        ] {
            assert_eq!(
                settings.is_short(length, window),
                is_short,
                "{length:?} {window:?}"
            );
        }
        let never = PromptSettings { small_window: 0 };
        assert!(!never.is_short(Auto, Some(256)));
    }
}
