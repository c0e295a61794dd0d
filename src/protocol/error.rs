//! What a request gets when it cannot be done: a stable code, and words for the person.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest message of an error. It has words for a person, and some repeat what was sent.
const MAX_ERROR_MESSAGE_BYTES: usize = 8 << 10;

/// How much of what was sent, or of another's words, an error repeats.
const MAX_EXCERPT_BYTES: usize = 500;

/// The beginning of a text, for an error that says what it was.
pub fn excerpt(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_EXCERPT_BYTES);
    let more = if end < text.len() { "…" } else { "" };
    [&text[..end], more].concat()
}

/// Says what happened, what was kept and what to do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    pub code: ErrorCode,
    pub message: String,
}

/// The stable, machine-readable cause. Each stands for one HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// 400: the request is not of the form that is asked for.
    BadRequest,
    /// 401: the token is not one that is taken.
    Unauthorized,
    /// 403: the request came from another site.
    Forbidden,
    /// 404: there is no such thing, or it is somebody else's.
    NotFound,
    /// 405: this address takes another method.
    WrongMethod,
    /// 408: the request's body came too slowly.
    RequestTimeout,
    /// 409: a run is at work on this conversation already.
    RunActive,
    /// 409: this answer has come to its end, or the conversation has gone on since.
    NotContinuable,
    /// 409: this intent's id was used before, for something else.
    IntentReused,
    /// 409: this action was taken already, or is offered no more.
    ActionSpent,
    /// 409: another note than was known stands there.
    NoteChanged,
    /// 413: the request is longer than a limit.
    TooLarge,
    /// 415: the body is not said to be what is read here.
    UnsupportedMediaType,
    /// 422: a tool is wanted that there is not.
    UnknownTool,
    /// 422: a model is wanted that there is not.
    UnknownModel,
    /// 422: a model can't be asked like that.
    InvalidParameters,
    /// 422: what the person is said to look at is not there.
    InvalidContext,
    /// 500: a fault of Parlor.
    Internal,
    /// 503: storage does not work, or the server is stopping.
    Unavailable,
    /// The server could not be reached (made by the browser, never sent).
    Unreachable,
}

impl ErrorCode {
    /// The HTTP status that goes with the code.
    pub fn status(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
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
            Self::UnknownTool | Self::UnknownModel | Self::InvalidParameters | Self::InvalidContext => 422,
            Self::Internal => 500,
            Self::Unavailable | Self::Unreachable => 503,
        }
    }

    /// The code as it is on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BadRequest => "bad_request",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
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
            Self::InvalidParameters => "invalid_parameters",
            Self::InvalidContext => "invalid_context",
            Self::Internal => "internal",
            Self::Unavailable => "unavailable",
            Self::Unreachable => "unreachable",
        }
    }
}

impl ApiError {
    /// An error with a code and words for the person. A message that is longer than anybody reads is cut.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if message.len() > MAX_ERROR_MESSAGE_BYTES {
            message.truncate(message.floor_char_boundary(MAX_ERROR_MESSAGE_BYTES));
            message.push('…');
        }
        Self { code, message }
    }

    /// No answer came. That says nothing about whether the request did.
    pub fn unreachable() -> Self {
        Self::new(
            ErrorCode::Unreachable,
            "The server could not be reached, or its answer got lost: it is not known whether this arrived. Doing it \
             again is safe.",
        )
    }

    /// A request came to the server, or an answer to the page, that it does not understand.
    pub fn unreadable(cause: impl fmt::Display) -> Self {
        Self::new(
            ErrorCode::BadRequest,
            [
                "What was sent could not be read (",
                &excerpt(&cause.to_string()),
                "). If this is Parlor's own page, reload it.",
            ]
            .concat(),
        )
    }
}
