//! The length of the system prompt.

use serde::Deserialize;

/// The settings of the system prompt's length.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PromptSettings {
    /// The largest context window, in tokens, that counts as small: its model gets a short prompt. 0 means
    /// that none does.
    pub small_window: usize,
}

/// The prompt that an endpoint's models get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptLength {
    /// Short in a small window; full in others and if the window is unknown.
    #[default]
    Auto,
    /// The assistant's identity in one line, with the user's instructions and the open page.
    Short,
    /// Everything that the model and the page support.
    Full,
}

impl Default for PromptSettings {
    fn default() -> Self {
        Self { small_window: 8192 }
    }
}

impl PromptSettings {
    /// Returns true if a model gets the short prompt. A model with an unknown window is usually a hosted one,
    /// whose window is large.
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
