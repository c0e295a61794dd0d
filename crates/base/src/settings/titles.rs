//! Settings of the titles of conversations.

use std::time::Duration;

use serde::Deserialize;

/// Titles by the model, after the first exchange of a conversation. Until then, and without them, the title is the
/// beginning of the first message. A title that the user has set is never replaced.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TitleSettings {
    /// The conversations that get one: "auto" (not those of models on this machine or in its network), "always" or
    /// "never".
    pub mode: TitleMode,
    /// The model that writes them, as `endpoint/model`, such as a cheap one. If unset, the one that has answered.
    pub model: Option<String>,
    /// The maximum tokens of such a call, with the thinking of models that think.
    pub max_tokens: usize,
    /// The timeout of such a call.
    #[serde(deserialize_with = "super::duration::positive")]
    pub timeout: Duration,
}

impl Default for TitleSettings {
    fn default() -> Self {
        Self {
            mode: TitleMode::Auto,
            model: None,
            max_tokens: 400,
            timeout: Duration::from_secs(30),
        }
    }
}

/// The conversations that get a title by the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitleMode {
    /// Conversations with models elsewhere: a local model may be slow, and busy with the next answer.
    #[default]
    Auto,
    Always,
    Never,
}
