//! The user behind a request, and the helpers that most requests need for that user.

use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;
use serde::Serialize;
use uuid::Uuid;

use super::{AppState, not_found, tokens::Access};
use crate::{
    protocol::{ApiError, ErrorCode, UserId},
    storage::{Change, PageSize},
};

/// The user (or program) behind a request.
pub struct Caller {
    pub app: AppState,
    pub user_id: UserId,
    /// The token that the request came with.
    pub access: Option<Access>,
}

/// The caller of a server function.
pub fn current_caller() -> Result<Caller, ApiError> {
    let app = use_context::<AppState>().ok_or_else(|| {
        tracing::error!("a server function was called outside of the server");
        ApiError::new(
            ErrorCode::Internal,
            "Something went wrong in Parlor. Its log says what.",
        )
    })?;
    Ok(Caller::local(app))
}

/// Returns a hash of the request, which distinguishes requests with the same intent id. The request itself is not stored.
pub fn fingerprint(request: &impl Serialize) -> Result<String, ApiError> {
    let request = serde_json::to_vec(request)
        .map_err(|error| ApiError::new(ErrorCode::BadRequest, error.to_string()))?;
    Ok(Uuid::new_v5(&Uuid::NAMESPACE_OID, &request).to_string())
}

impl Caller {
    /// Creates the caller of a request without a token. Until there are accounts, that is always the one local user. Handlers
    /// of the API get their caller from an extractor, which also knows tokens.
    pub fn local(app: AppState) -> Self {
        Self {
            app,
            user_id: UserId::LOCAL,
            access: None,
        }
    }

    /// Normalises and checks a title before it is stored.
    pub fn parse_title(&self, title: &str) -> Result<String, ApiError> {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let limit = self.app.settings.limits.title_characters;
        if title.is_empty() {
            return self.set_error_status(Err(ApiError::new(
                ErrorCode::BadRequest,
                "A title needs at least one character. The old one is kept.",
            )));
        }
        if title.chars().count() > limit {
            let message = format!("A title has at most {limit} characters. The old one is kept.");
            return self.set_error_status(Err(ApiError::new(ErrorCode::TooLarge, message)));
        }
        Ok(title)
    }

    /// Returns the maximum part of a conversation that one response contains.
    pub fn message_page_size(&self) -> PageSize {
        let limits = &self.app.settings.limits;
        PageSize {
            messages: limits.messages_page,
            bytes: limits.messages_page_bytes,
        }
    }

    /// Commits a change. Returns after the commit.
    pub async fn commit(&self, change: Change) -> Result<(), ApiError> {
        self.set_error_status(self.app.journal.submit(change).await.map(drop))
    }

    /// Converts an outcome into the response of a server function and sets its HTTP status.
    pub fn set_error_status<T, E: Into<ApiError>>(&self, outcome: Result<T, E>) -> Result<T, ApiError> {
        outcome.map_err(|error| {
            let error = error.into();
            if let (Some(response), Ok(status)) =
                (use_context::<ResponseOptions>(), error.code.status().try_into())
            {
                response.set_status(status);
            }
            error
        })
    }

    /// Like [`set_error_status`](Self::set_error_status), with an error if the value does not exist.
    pub fn require_found<T, E: Into<ApiError>>(&self, outcome: Result<Option<T>, E>) -> Result<T, ApiError> {
        self.set_error_status(
            outcome
                .map_err(Into::into)
                .and_then(|found| found.ok_or_else(not_found)),
        )
    }
}
