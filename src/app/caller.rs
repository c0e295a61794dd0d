//! The user behind a request, and the helpers that most requests need for that user.

use axum::http::request::Parts;
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;
use serde::Serialize;
use uuid::Uuid;

use super::{AppState, access::Access, not_found, tokens::unauthorized};
use parlor_base::settings::AuthMode;
use parlor_markup::markdown::is_invisible;
use parlor_protocol::{ApiError, ConversationId, ErrorCode, Role, UserId};
use parlor_storage::{Change, PageSize};

/// The user (or program) behind a request.
pub struct Caller {
    pub app: AppState,
    pub user_id: UserId,
    /// The right to act as the user. The local user needs none.
    pub access: Option<Access>,
}

/// The caller of a server function.
pub fn current_caller() -> Result<Caller, ApiError> {
    let (app, access) = current_visitor()?;
    Caller::new(app, access)
}

/// The access of a server function's request, which may be that of somebody without an account.
pub fn current_visitor() -> Result<(AppState, Option<Access>), ApiError> {
    let app = use_context::<AppState>().ok_or_else(|| {
        tracing::error!("a server function was called outside of the server");
        ApiError::new(
            ErrorCode::Internal,
            "Something went wrong. Try again. Parlor's log says more.",
        )
    })?;
    let access = use_context::<Parts>().and_then(|parts| parts.extensions.get::<Access>().cloned());
    Ok((app, access))
}

/// Returns a hash of the request, which distinguishes requests with the same intent id. The request itself is not stored.
pub fn fingerprint(request: &impl Serialize) -> Result<String, ApiError> {
    let request = serde_json::to_vec(request)
        .map_err(|error| ApiError::new(ErrorCode::BadRequest, error.to_string()))?;
    Ok(Uuid::new_v5(&Uuid::NAMESPACE_OID, &request).to_string())
}

/// Converts an outcome into the response of a server function and sets its HTTP status.
pub fn set_error_status<T, E: Into<ApiError>>(outcome: Result<T, E>) -> Result<T, ApiError> {
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

impl AppState {
    /// Returns true if a user runs the server: an administrator, or the only user.
    pub async fn is_administrator(&self, user_id: UserId) -> Result<bool, ApiError> {
        if self.accounts.mode() == AuthMode::None {
            return Ok(true);
        }
        let account = self.storage.account(user_id).await?;
        Ok(account.is_some_and(|account| account.role == Role::Administrator))
    }
}

impl Caller {
    /// Creates the caller of a request: the user of its access, or the local user if there are no accounts.
    ///
    /// # Errors
    ///
    /// If there are accounts and the request has no access. Such requests are rejected before their handlers run.
    pub fn new(app: AppState, access: Option<Access>) -> Result<Self, ApiError> {
        let user_id = match &access {
            Some(access) => access.user_id,
            None if app.accounts.mode() == AuthMode::None => UserId::LOCAL,
            None => return Err(unauthorized("Sign in first. Nothing was done.")),
        };
        Ok(Self { app, user_id, access })
    }

    /// Returns true if the user runs the server.
    pub async fn is_administrator(&self) -> Result<bool, ApiError> {
        self.app.is_administrator(self.user_id).await
    }

    /// Checks that the user's role may open the page at an address.
    pub async fn require_page(&self, address: &str) -> Result<(), ApiError> {
        let path = address.split('?').next().unwrap_or_default();
        let permissions = self.app.runs.permissions(self.user_id).await?;
        let is_allowed = |tool: &str| permissions.allows_tool(tool);
        if self.app.pages.may_open(path, is_allowed) {
            return Ok(());
        }
        self.set_error_status(Err(ApiError::new(
            ErrorCode::Forbidden,
            "Your role may not use what this page shows (setting accounts.access). An administrator can allow it.",
        )))
    }

    /// Checks that a conversation is not deleted. What is read by the id of a message or a payload is there until the
    /// conversation is erased.
    ///
    /// # Errors
    ///
    /// If it is deleted, or the database can't be read.
    pub async fn require_not_deleted(&self, conversation_id: ConversationId) -> Result<(), ApiError> {
        match self.app.storage.is_trashed(self.user_id, conversation_id).await? {
            true => Err(not_found()),
            false => Ok(()),
        }
    }

    /// Normalises and checks a title before it is stored.
    pub fn parse_title(&self, title: &str) -> Result<String, ApiError> {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let limit = self.app.settings.limits.title_characters;
        if title.chars().all(|c| c == ' ' || is_invisible(c)) {
            return self.set_error_status(Err(ApiError::new(
                ErrorCode::BadRequest,
                "A title needs at least one visible character. The old one is kept.",
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
        set_error_status(outcome)
    }

    /// Converts an outcome as [`set_error_status`](Self::set_error_status) does, with an error if the value does not exist.
    pub fn require_found<T, E: Into<ApiError>>(&self, outcome: Result<Option<T>, E>) -> Result<T, ApiError> {
        self.set_error_status(
            outcome
                .map_err(Into::into)
                .and_then(|found| found.ok_or_else(not_found)),
        )
    }
}
