//! The user behind a request, and what most requests need on their behalf.

use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;
use serde::Serialize;
use uuid::Uuid;

use super::{AppState, error::not_found, tokens::Access};
use crate::{
    protocol::{ApiError, ErrorCode, UserId},
    storage::{Change, PageSize},
};

/// The person (or program) behind a request.
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

/// A hash of the request, to tell one from another under the same intent id. What the request says is not kept with it.
pub fn fingerprint(request: &impl Serialize) -> Result<String, ApiError> {
    let request = serde_json::to_vec(request)
        .map_err(|error| ApiError::new(ErrorCode::BadRequest, error.to_string()))?;
    Ok(Uuid::new_v5(&Uuid::NAMESPACE_OID, &request).to_string())
}

impl Caller {
    /// Until there are accounts, everybody who gets here without a token is the one local user. Handlers of the API have their
    /// caller extracted, which knows of tokens.
    pub fn local(app: AppState) -> Self {
        Self {
            app,
            user_id: UserId::LOCAL,
            access: None,
        }
    }

    /// A title as it may be stored.
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

    /// How much of a conversation goes into one answer.
    pub fn message_page_size(&self) -> PageSize {
        let limits = &self.app.settings.limits;
        PageSize {
            messages: limits.messages_page,
            bytes: limits.messages_page_bytes,
        }
    }

    /// Makes a change and waits until it is committed.
    pub async fn commit(&self, change: Change) -> Result<(), ApiError> {
        self.set_error_status(self.app.journal.submit(change).await.map(drop))
    }

    /// Turns an outcome into the answer to a server function, with the status that goes with it.
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

    /// The same for what may not be there.
    pub fn require_found<T, E: Into<ApiError>>(&self, outcome: Result<Option<T>, E>) -> Result<T, ApiError> {
        self.set_error_status(
            outcome
                .map_err(Into::into)
                .and_then(|found| found.ok_or_else(not_found)),
        )
    }
}
