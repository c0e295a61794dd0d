//! Errors of literature operations, and their messages for the user, the model and programs.

use std::borrow::Cow;

use parlor_journal::JournalError;
use parlor_protocol::{ApiError, ErrorCode};
use parlor_storage::{ChangeRejection, StorageError};
use parlor_tools::ToolError;
use parlor_web::services::{
    ServiceError, ServiceErrorKind,
    pubmed::{MAX_QUERY_BYTES, PubmedUnavailable},
};

/// A failure of a literature operation. The message is a sentence for the user and for the model.
#[derive(Debug, thiserror::Error)]
pub enum LiteratureError {
    #[error("There is no article with the PMID {0}.")]
    ArticleNotFound(String),
    #[error("There is no such stream.")]
    StreamNotFound,
    #[error("The stream with this id is called “{0}”. Nothing was changed.")]
    StreamNameMismatch(String),
    #[error(transparent)]
    PubmedUnavailable(#[from] PubmedUnavailable),
    #[error("A query has 1 to {MAX_QUERY_BYTES} bytes.")]
    InvalidQuery,
    #[error("{what} is too long: it may have {limit} bytes (setting literature.text_bytes).")]
    TooLong { what: &'static str, limit: usize },
    #[error("A stream needs a name, and so does all that it lists.")]
    EmptyName,
    #[error("{what} may have {limit} entries, each with a name of its own.")]
    InvalidList { what: &'static str, limit: usize },
    #[error(transparent)]
    Pubmed(#[from] ServiceError),
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl LiteratureError {
    /// Returns the message with advice for the user.
    pub fn user_message(&self) -> String {
        match self {
            Self::Pubmed(error) => format!("{error} {}", advice(&error.kind)),
            error => error.to_string(),
        }
    }
}

/// Returns advice for the user when PubMed does not respond as expected.
fn advice(fault: &ServiceErrorKind) -> Cow<'static, str> {
    match fault {
        ServiceErrorKind::Busy(Some(after)) => {
            format!("Try again in {} seconds.", after.as_secs_f64().ceil().max(1.0)).into()
        }
        ServiceErrorKind::Busy(None) | ServiceErrorKind::QueueFull => "Try again in a minute.".into(),
        ServiceErrorKind::Timeout(_)
        | ServiceErrorKind::ServerError(_)
        | ServiceErrorKind::Failed(_)
        | ServiceErrorKind::Unreadable => {
            "Try again in a minute. If it does not help, the server's log has the details.".into()
        }
        ServiceErrorKind::InvalidQuery(_) => "Change the query, and search again.".into(),
        ServiceErrorKind::Unreachable
        | ServiceErrorKind::AccessDenied(_)
        | ServiceErrorKind::Refused(_)
        | ServiceErrorKind::TooLarge(_) => {
            "The reason is in the server's log. The URL of PubMed is the setting tools.pubmed.base_url."
                .into()
        }
    }
}

impl From<LiteratureError> for ToolError {
    fn from(error: LiteratureError) -> Self {
        match error {
            LiteratureError::Pubmed(error) => error.into(),
            LiteratureError::Journal(JournalError::Rejected(ChangeRejection::LibraryFull)) => Self::new(
                "The library has reached its limit of articles or saved queries. Nothing was changed: ask the person to remove some.",
            ),
            LiteratureError::Storage(error) => {
                tracing::error!(%error, "cannot read the saved literature");
                Self::unavailable()
            }
            LiteratureError::Journal(error) => {
                tracing::error!(%error, "cannot save literature");
                Self::unavailable()
            }
            error => Self::new(error),
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
            | LiteratureError::InvalidList { .. }
            | LiteratureError::Pubmed(ServiceError {
                kind: ServiceErrorKind::InvalidQuery(_),
                ..
            }) => ErrorCode::BadRequest,
            LiteratureError::Pubmed(_) | LiteratureError::PubmedUnavailable(_) => ErrorCode::Unavailable,
        };
        Self::new(code, error.user_message())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use captured_log::CapturedLog;
    use parlor_storage::StorageErrorKind;

    #[test]
    fn storage_errors_go_to_the_log_only() {
        let (log, _listening) = CapturedLog::capture();
        let broken = StorageError::Database(sqlx::Error::ColumnNotFound("pmid".into()));
        assert_eq!(
            ToolError::from(LiteratureError::from(broken)),
            ToolError::unavailable()
        );
        assert!(log.contains("pmid"));
        let unavailable = JournalError::Unavailable(StorageErrorKind::Other);
        assert_eq!(
            ToolError::from(LiteratureError::from(unavailable)),
            ToolError::unavailable()
        );
        let full = JournalError::Rejected(ChangeRejection::LibraryFull);
        let said = ToolError::from(LiteratureError::from(full)).0;
        assert!(said.contains("remove some"), "{said}");
    }
}
