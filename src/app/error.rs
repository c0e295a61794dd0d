//! Errors of the other modules as [`ApiError`]s: a stable code, and a message that says what happened and what to do.

use super::turns::unknown_model_error;
use crate::{
    journal::JournalError,
    literature::LiteratureError,
    pages::ContextError,
    protocol::{ApiError, ErrorCode},
    runs::{StartError, StopError},
    services::{ServiceError, ServiceErrorKind},
    storage::{ChangeRejection, StorageError, StorageErrorKind},
};

/// Returns the error for invalid parameters. It names each one and the reason.
pub fn invalid_parameters(wrong: &str) -> ApiError {
    ApiError::new(
        ErrorCode::InvalidParameters,
        format!("{wrong} Nothing was changed."),
    )
}

/// Returns the error for data that does not exist or belongs to another user. Both have the same text, so that nobody learns
/// which ids exist.
pub fn not_found() -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        "There is no such conversation or message. It may have been deleted.",
    )
}

impl From<StorageError> for ApiError {
    fn from(error: StorageError) -> Self {
        tracing::error!(%error, "storage");
        if error.is_row_damage() {
            return Self::new(
                ErrorCode::Internal,
                "The stored data are damaged and can't be read. Nothing was changed. The log says more.",
            );
        }
        unavailable(error.kind())
    }
}

impl From<StopError> for ApiError {
    fn from(error: StopError) -> Self {
        match error {
            StopError::NotStored => Self::new(
                ErrorCode::Unavailable,
                "The answer is stopped, but Parlor can't store that just now. It will as soon as it can; the log says more.",
            ),
            StopError::Storage(error) => error.into(),
        }
    }
}

/// Returns the error for a storage failure. The message says what to do.
fn unavailable(trouble: StorageErrorKind) -> ApiError {
    let message = match trouble {
        StorageErrorKind::Damaged => {
            // Not `unavailable`: clients retry that.
            return ApiError::new(
                ErrorCode::Internal,
                "Parlor's database is damaged: this could not be read or stored. Nothing was changed. Stop Parlor, copy its data \
                 folder, then put back a backup, or save what can be saved with sqlite3's .recover. The log says more.",
            );
        }
        StorageErrorKind::DiskFull => {
            "The disk is full: Parlor can't store anything. Nothing was changed; make room on the disk that holds Parlor's \
             data, then try again."
        }
        StorageErrorKind::NotWritable => {
            "Parlor may not write its data. Nothing was changed; give it write access to its data folder, then try again. \
             The log says more."
        }
        StorageErrorKind::Other => {
            "Parlor's database does not work just now. Nothing was changed; try again in a moment. The log says \
             more."
        }
    };
    ApiError::new(ErrorCode::Unavailable, message)
}

impl From<JournalError> for ApiError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Rejected(ChangeRejection::NotFound) => not_found(),
            JournalError::Rejected(ChangeRejection::Internal) => Self::new(
                ErrorCode::Internal,
                "A fault in Parlor: this could not be stored. Nothing was changed. The log says more.",
            ),
            JournalError::Rejected(ChangeRejection::RunActive) => Self::new(
                ErrorCode::RunActive,
                "This conversation is being answered. Nothing was changed: wait for the end, or stop it.",
            ),
            JournalError::Rejected(ChangeRejection::NotContinuable) => Self::new(
                ErrorCode::NotContinuable,
                "Only the last answer of a conversation can be continued, and only if it broke off or was stopped. Nothing was \
                 changed.",
            ),
            JournalError::Rejected(ChangeRejection::IntentReused) => Self::new(
                ErrorCode::IntentReused,
                "This request's id was used before for another request. Nothing was changed; send it with a new id.",
            ),
            JournalError::Rejected(ChangeRejection::ActionAlreadyTaken) => Self::new(
                ErrorCode::ActionSpent,
                "This was done already or is no longer offered. Nothing was changed.",
            ),
            JournalError::Rejected(ChangeRejection::NoteChanged) => Self::new(
                ErrorCode::NoteChanged,
                "This note was changed elsewhere meanwhile, so it was not replaced. What you wrote is still in its box.",
            ),
            JournalError::Rejected(ChangeRejection::MemoryFull) => Self::new(
                ErrorCode::TooLarge,
                "The limit of memories (setting limits.memories) is reached. Nothing was changed; delete one first.",
            ),
            JournalError::Rejected(ChangeRejection::LibraryFull) => Self::new(
                ErrorCode::TooLarge,
                "As many articles, or streams, are kept as may be (settings literature.articles and literature.streams). \
                 Nothing was changed; remove something first.",
            ),
            JournalError::Rejected(ChangeRejection::TokensFull) => Self::new(
                ErrorCode::TooLarge,
                "The limit of API tokens (setting limits.api_tokens) is reached. Revoke one first.",
            ),
            JournalError::Unavailable(trouble) => unavailable(trouble),
        }
    }
}

impl From<ContextError> for ApiError {
    fn from(error: ContextError) -> Self {
        let code = match error {
            ContextError::Storage(error) => return error.into(),
            ContextError::TooLarge { .. } => ErrorCode::TooLarge,
            _ => ErrorCode::InvalidContext,
        };
        Self::new(code, error.to_string())
    }
}

impl From<StartError> for ApiError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Empty => Self::new(
                ErrorCode::BadRequest,
                "The message is empty: there is nothing to answer.",
            ),
            StartError::TooLong { length, limit } => Self::new(
                ErrorCode::TooLarge,
                format!(
                    "The message has {length} bytes; the limit is {limit} (setting limits.message_bytes)."
                ),
            ),
            StartError::UnknownTool { name, offered } => {
                let tools = match offered.as_slice() {
                    [] => "No tools are offered.".to_owned(),
                    offered => format!("The tools are: {}.", offered.join(", ")),
                };
                Self::new(
                    ErrorCode::UnknownTool,
                    format!("There is no tool “{name}” to be used. {tools}"),
                )
            }
            StartError::UnknownModel(unknown) => unknown_model_error(&unknown),
            StartError::Parameters(wrong) => invalid_parameters(&wrong),
            StartError::ShuttingDown => Self::new(ErrorCode::Unavailable, "Parlor is being stopped."),
            StartError::Context(error) => error.into(),
            StartError::Journal(error) => error.into(),
        }
    }
}

impl From<LiteratureError> for ApiError {
    fn from(error: LiteratureError) -> Self {
        let code = match error {
            LiteratureError::Storage(error) => return error.into(),
            LiteratureError::Journal(JournalError::Rejected(ChangeRejection::NotFound)) => {
                return Self::new(
                    ErrorCode::NotFound,
                    "This is no longer saved: it was removed elsewhere, perhaps in another tab. Nothing was changed.",
                );
            }
            LiteratureError::Journal(error) => return error.into(),
            LiteratureError::ArticleNotFound(_)
            | LiteratureError::StreamNotFound
            | LiteratureError::StreamNameMismatch(_) => ErrorCode::NotFound,
            LiteratureError::TooLong { .. } => ErrorCode::TooLarge,
            LiteratureError::InvalidQuery
            | LiteratureError::EmptyName
            | LiteratureError::Pubmed(ServiceError {
                kind: ServiceErrorKind::InvalidQuery(_),
                ..
            }) => ErrorCode::BadRequest,
            LiteratureError::Pubmed(_) | LiteratureError::PubmedUnavailable(_) => ErrorCode::Unavailable,
        };
        Self::new(code, error.user_message())
    }
}
