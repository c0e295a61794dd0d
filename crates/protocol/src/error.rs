//! The error of a request: a stable code and a message for the user.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::truncate_bytes;

/// The maximum length of an error message. Some messages repeat what was sent.
const MAX_ERROR_MESSAGE_BYTES: usize = 8 << 10;

/// The maximum length of a quotation in an error message, from the request or from another server.
const MAX_EXCERPT_BYTES: usize = 500;

/// Returns the beginning of a text, for quoting it in an error message.
pub fn excerpt(text: &str) -> String {
    truncate_bytes(text, MAX_EXCERPT_BYTES)
}

/// An error of a request. The message says what happened, what was kept and what to do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    pub code: ErrorCode,
    pub message: String,
    /// The number of seconds after which the same request may succeed, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
}

/// The stable, machine-readable cause. Each maps to one HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// 400: the request is malformed.
    BadRequest,
    /// 401: the token is not valid, or there is none and Parlor has accounts.
    Unauthorized,
    /// 401: the session of the page has ended. Only in the page's own functions.
    #[schemars(skip)]
    SignedOut,
    /// 403: the request came from another site.
    Forbidden,
    /// 403: the user may not use this model.
    ModelNotAllowed,
    /// 404: the resource does not exist, or belongs to somebody else.
    NotFound,
    /// 405: this path takes another method.
    WrongMethod,
    /// 408: the request's body came too slowly.
    RequestTimeout,
    /// 409: this conversation has an active run already.
    RunActive,
    /// 409: this answer is complete and not cut short, or the conversation has newer messages.
    NotContinuable,
    /// 409: this intent's id was used before, for something else.
    IntentReused,
    /// 409: this action was taken already, or is no longer offered.
    ActionSpent,
    /// 409: the note or the project was changed meanwhile. Only in the page's own functions.
    #[schemars(skip)]
    NoteChanged,
    /// 413: the request is longer than a limit.
    TooLarge,
    /// 415: the body's content type is not supported.
    UnsupportedMediaType,
    /// 422: a requested tool does not exist.
    UnknownTool,
    /// 422: the requested model does not exist.
    UnknownModel,
    /// 422: a file of the message does not exist, or it is in another message.
    FileNotFound,
    /// 422: the model can't take a file of the message.
    FileNotTaken,
    /// 422: a parameter has no valid value.
    InvalidParameters,
    /// 422: the page context names something that does not exist.
    InvalidContext,
    /// 429: too many requests or failed attempts.
    TooManyRequests,
    /// 429: the tokens or the cost of the day are used up, or the maximum number of answers is being written.
    LimitReached,
    /// 507: the files of the user reach their limit.
    NoRoom,
    /// 500: a bug in Parlor.
    Internal,
    /// 503: storage does not work, or the server is stopping.
    Unavailable,
    /// The server could not be reached (made by the browser, never sent).
    #[schemars(skip)]
    Unreachable,
}

impl ErrorCode {
    /// The HTTP status of the code.
    pub fn status(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::Unauthorized | Self::SignedOut => 401,
            Self::Forbidden | Self::ModelNotAllowed => 403,
            Self::NotFound => 404,
            Self::WrongMethod => 405,
            Self::RequestTimeout => 408,
            Self::RunActive
            | Self::NotContinuable
            | Self::IntentReused
            | Self::ActionSpent
            | Self::NoteChanged => 409,
            Self::TooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::UnknownTool
            | Self::UnknownModel
            | Self::FileNotFound
            | Self::FileNotTaken
            | Self::InvalidParameters
            | Self::InvalidContext => 422,
            Self::TooManyRequests | Self::LimitReached => 429,
            Self::Internal => 500,
            Self::NoRoom => 507,
            Self::Unavailable | Self::Unreachable => 503,
        }
    }

    /// Returns true if the same request may succeed later: the page keeps it and tries again.
    pub fn is_temporary(self) -> bool {
        matches!(
            self,
            Self::Unreachable | Self::Unavailable | Self::SignedOut | Self::TooManyRequests
        )
    }

    /// The code's name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BadRequest => "bad_request",
            Self::Unauthorized => "unauthorized",
            Self::SignedOut => "signed_out",
            Self::Forbidden => "forbidden",
            Self::ModelNotAllowed => "model_not_allowed",
            Self::NotFound => "not_found",
            Self::WrongMethod => "wrong_method",
            Self::RequestTimeout => "request_timeout",
            Self::RunActive => "run_active",
            Self::NotContinuable => "not_continuable",
            Self::IntentReused => "intent_reused",
            Self::ActionSpent => "action_spent",
            Self::NoteChanged => "note_changed",
            Self::TooLarge => "too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::UnknownTool => "unknown_tool",
            Self::UnknownModel => "unknown_model",
            Self::FileNotFound => "file_not_found",
            Self::FileNotTaken => "file_not_taken",
            Self::InvalidParameters => "invalid_parameters",
            Self::InvalidContext => "invalid_context",
            Self::TooManyRequests => "too_many_requests",
            Self::LimitReached => "limit_reached",
            Self::NoRoom => "no_room",
            Self::Internal => "internal",
            Self::Unavailable => "unavailable",
            Self::Unreachable => "unreachable",
        }
    }
}

impl ApiError {
    /// Creates an error. A message over 8 KiB is cut.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let message = truncate_bytes(&message.into(), MAX_ERROR_MESSAGE_BYTES);
        Self {
            code,
            message,
            retry_after: None,
        }
    }

    /// Adds the number of seconds after which the same request may succeed.
    pub fn with_retry_after(self, seconds: Option<u64>) -> Self {
        Self {
            retry_after: seconds,
            ..self
        }
    }

    /// Creates the error of a request without a response. It may have been processed.
    pub fn unreachable() -> Self {
        Self::new(
            ErrorCode::Unreachable,
            "The server could not be reached, or its answer was lost. Your request may have arrived. You can safely \
             try again.",
        )
    }

    /// Creates the error of a request that the server can't parse, or of a response that the page can't.
    pub fn unreadable(cause: impl fmt::Display) -> Self {
        Self::new(
            ErrorCode::BadRequest,
            [
                "The request or its answer could not be read (",
                &excerpt(&cause.to_string()),
                "). If this is Parlor's own page, reload it.",
            ]
            .concat(),
        )
    }
}
