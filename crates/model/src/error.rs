//! Failures of a model call.

use std::time::Duration;

use parlor_protocol::RunError;

/// The error of a call without a complete answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .error.message)]
pub struct ModelError {
    /// The text for the user: it names the endpoint, the cause and the setting to change.
    pub error: RunError,
    pub kind: ModelErrorKind,
    /// The server's own error, unless there was no response with an error status.
    pub reply: Option<ErrorReply>,
}

/// The error that a server has sent with its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorReply {
    pub status: u16,
    /// The server's own text, without secrets, truncated.
    pub text: String,
}

/// The consequence of an error for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// The same call would fail again.
    Refused,
    /// The server is busy or down (408, 409, 429, 5xx, no connection). The call may be retried before its
    /// first event, after `after` if the server sent a delay.
    Unavailable { after: Option<Duration> },
    /// The stream broke off after its first event.
    StreamBroken,
}
