//! Settings of the conversation history that a model gets.

use std::time::Duration;

use jiff::tz::TimeZone;
use serde::Deserialize;

use super::SettingsError;

/// The conversion of a conversation into the model's input.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HistorySettings {
    /// The messages that are preceded by metadata, the time of a message and the tools used in an answer:
    /// "auto" (only after a gap, with files, tools or a button), "always" or "never".
    pub metadata: MetadataMode,
    /// The gap between two messages after which the user counts as having been away.
    #[serde(deserialize_with = "super::duration::positive")]
    pub session_gap: Duration,
    /// The time zone of these times, by its IANA name; UTC if unset.
    pub timezone: Option<String>,
    /// The tokens of the window reserved for the answer, unless the conversation limits the length of
    /// answers.
    pub answer_tokens: usize,
    /// The length in bytes to which tool outputs are shortened when the window is too small for all.
    pub short_output_bytes: usize,
    /// True if the model summarizes the oldest messages when the window is too small for them. Otherwise they
    /// are omitted.
    pub summarize: bool,
    /// The timeout of a summary.
    #[serde(deserialize_with = "super::duration::positive")]
    pub summary_timeout: Duration,
    /// The delay after a failed summary before another one is tried in that conversation: each attempt may
    /// take up to the timeout.
    #[serde(deserialize_with = "super::duration::positive")]
    pub summary_retry: Duration,
    /// The maximum length of a summary in bytes. In a small window it has to be shorter.
    pub summary_bytes: usize,
}

/// The messages of the history that get metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MetadataMode {
    /// Only messages with something to report: a gap between sessions, files, tools or a button. The first
    /// message only if it has files: a tool needs their ids to look at them again.
    #[default]
    Auto,
    /// All messages.
    Always,
    /// None.
    Never,
}

impl Default for HistorySettings {
    fn default() -> Self {
        Self {
            metadata: MetadataMode::Auto,
            session_gap: Duration::from_secs(4 * 3600),
            timezone: None,
            answer_tokens: 4096,
            short_output_bytes: 500,
            summarize: true,
            summary_timeout: Duration::from_secs(120),
            summary_retry: Duration::from_secs(1800),
            summary_bytes: 8000,
        }
    }
}

impl HistorySettings {
    pub(super) fn check(&self) -> Result<(), SettingsError> {
        match &self.timezone {
            Some(name) if TimeZone::get(name).is_err() => Err(SettingsError::UnknownTimeZone(name.clone())),
            _ => Ok(()),
        }
    }

    /// Returns the time zone for displayed times. Unknown zones were rejected at the start.
    pub fn time_zone(&self) -> TimeZone {
        let name = self.timezone.as_deref();
        name.and_then(|name| TimeZone::get(name).ok())
            .unwrap_or(TimeZone::UTC)
    }
}
