//! Failures of a model call.

use std::time::Duration;

use crate::protocol::RunError;

/// Why a call gave no (whole) answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .error.message)]
pub struct ModelError {
    /// What the person is told: names the endpoint, the cause and the setting to change.
    pub error: RunError,
    pub kind: ModelErrorKind,
}

/// What an error means for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// The server named an error that the same call would meet again.
    Refused,
    /// The server is busy or down (408, 409, 429, 5xx, no connection): the call may be tried again before
    /// its first event, after `after` if the server said so.
    Unavailable { after: Option<Duration> },
    /// The stream broke off after it had begun.
    StreamBroken,
}
