//! What a model is shown of a conversation, and how much of it.

use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, de::Error};

use super::SettingsError;

/// How a conversation becomes what the model reads.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HistorySettings {
    /// Before which messages their metadata stand: when a message was said, and with which tools an answer was made.
    pub metadata: MetadataMode,
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

/// Before which messages of the history the model is shown metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetadataMode {
    /// Only where they say something: a gap between sittings, files, tools, a button. Never before the first message.
    #[default]
    Auto,
    /// All messages.
    Always,
    /// None.
    Never,
}

/// Reads the mode's name. Earlier versions had `true` and `false`.
impl<'de> Deserialize<'de> for MetadataMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Earlier(bool),
            Name(String),
        }
        let is_wanted = match Written::deserialize(deserializer) {
            Ok(Written::Earlier(is_wanted)) => is_wanted,
            Ok(Written::Name(name)) => {
                return match name.as_str() {
                    "auto" => Ok(Self::Auto),
                    "always" => Ok(Self::Always),
                    "never" => Ok(Self::Never),
                    other => Err(D::Error::custom(format!(
                        "history.metadata is “{other}”; it must be \"auto\", \"always\" or \"never\""
                    ))),
                };
            }
            Err(_) => {
                return Err(D::Error::custom(
                    "history.metadata must be \"auto\", \"always\" or \"never\"",
                ));
            }
        };
        let (read, name) = match is_wanted {
            true => (Self::Always, "always"),
            false => (Self::Never, "never"),
        };
        tracing::warn!(
            "history.metadata = {is_wanted} is an earlier version's; it is read as \"{name}\". Write \"auto\", \"always\" or \"never\"."
        );
        Ok(read)
    }
}

impl Default for HistorySettings {
    fn default() -> Self {
        Self {
            metadata: MetadataMode::Auto,
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

impl HistorySettings {
    pub(super) fn check(&self) -> Result<(), SettingsError> {
        match &self.timezone {
            Some(name) if TimeZone::get(name).is_err() => Err(SettingsError::UnknownTimeZone(name.clone())),
            _ => Ok(()),
        }
    }

    /// The time zone that times are shown in. What is no zone was refused at the start.
    pub fn time_zone(&self) -> TimeZone {
        let name = self.timezone.as_deref();
        name.and_then(|name| TimeZone::get(name).ok())
            .unwrap_or(TimeZone::UTC)
    }
}
