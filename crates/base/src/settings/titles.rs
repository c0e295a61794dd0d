//! Settings of the titles of conversations.

use std::time::Duration;

use serde::Deserialize;

/// Titles by the model, after the first exchange of a conversation. Until then, and without them, the title is the
/// beginning of the first message. A title that the user has set is never replaced.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TitleSettings {
    /// The conversations that get one: "auto" (models on this machine or in its network write theirs while they are idle),
    /// "always" (at once, whatever the model), "remote" (not those of such local models) or "never".
    pub mode: TitleMode,
    /// The model that writes them, as `endpoint/model`, such as a cheap one. If unset, the one that has answered.
    pub model: Option<String>,
    /// The maximum tokens of such a call, with the thinking of models that think.
    pub max_tokens: usize,
    /// The timeout of such a call.
    #[serde(deserialize_with = "super::duration::positive")]
    pub timeout: Duration,
    /// The timeout of such a call of a local model that is idle.
    #[serde(deserialize_with = "super::duration::positive")]
    pub local_timeout: Duration,
    /// The time without another call after which a local model counts as idle.
    #[serde(deserialize_with = "super::duration::positive")]
    pub idle: Duration,
    /// The maximum number of conversations whose titles are being made or wait for an idle model. Others get theirs after a
    /// later answer.
    pub waiting: usize,
}

impl Default for TitleSettings {
    fn default() -> Self {
        Self {
            mode: TitleMode::Auto,
            model: None,
            max_tokens: 400,
            timeout: Duration::from_secs(30),
            local_timeout: Duration::from_secs(120),
            idle: Duration::from_secs(2),
            waiting: 100,
        }
    }
}

/// The conversations that get a title by the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitleMode {
    /// All of them. A local model may be slow, and busy with the next answer: it writes titles while it is idle.
    #[default]
    Auto,
    /// All of them, at once.
    Always,
    /// Those of models elsewhere.
    Remote,
    Never,
}
