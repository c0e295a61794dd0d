//! What a model is shown of a conversation, and how much of it.

use jiff::tz::TimeZone;
use serde::Deserialize;

use super::SettingsError;

/// How a conversation becomes what the model reads.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct History {
    /// Whether each message is shown with when it was said, and with which tools an answer was made.
    pub metadata: bool,
    /// Who comes back after so many hours is said to have been away.
    pub session_gap_hours: f64,
    /// The time zone of these times, by its IANA name; UTC without it.
    pub timezone: Option<String>,
    /// How many tokens of the window are kept free for the answer, unless the conversation says how long an answer may be.
    pub answer_tokens: usize,
    /// To how much the output of a tool is shortened when there is no room for all, in bytes.
    pub short_output_bytes: usize,
    /// Whether the oldest messages are summarised by the model when there is no room for them. Without it they are left out.
    pub summarise: bool,
    /// How long making a summary may take.
    pub summary_seconds: f64,
    /// After a summary could not be had, how long none is tried again in that conversation: each attempt may take as long as one.
    pub summary_again_seconds: f64,
    /// How long a summary may be, in bytes. In a small window it has to be shorter.
    pub summary_bytes: usize,
}

impl Default for History {
    fn default() -> Self {
        Self {
            metadata: true,
            session_gap_hours: 4.0,
            timezone: None,
            answer_tokens: 4096,
            short_output_bytes: 500,
            summarise: true,
            summary_seconds: 120.0,
            summary_again_seconds: 1800.0,
            summary_bytes: 8000,
        }
    }
}

impl History {
    pub(super) fn check(&self) -> Result<(), SettingsError> {
        match &self.timezone {
            Some(name) if TimeZone::get(name).is_err() => Err(SettingsError::NoTimeZone(name.clone())),
            _ => Ok(()),
        }
    }

    /// The time zone that times are shown in. What is no zone was refused at the start.
    pub fn zone(&self) -> TimeZone {
        let name = self.timezone.as_deref();
        name.and_then(|name| TimeZone::get(name).ok())
            .unwrap_or(TimeZone::UTC)
    }
}
