//! Who calls, and the words in which a call is answered that can't be done.

use std::convert::Infallible;

use axum::{extract::FromRequestParts, http::request::Parts};
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;
use serde::Serialize;
use uuid::Uuid;

use super::{AppState, tokens::Access};
use crate::{
    api::{ApiError, ErrorCode},
    journal::JournalError,
    pages::ContextError,
    protocol::UserId,
    runs::{StartError, StopError},
    storage::{Change, PageSize, Refusal, StorageError, Trouble},
};

/// The person (or program) behind a request.
pub struct Caller {
    pub app: AppState,
    pub user_id: UserId,
    /// The token that the request came with.
    pub access: Option<Access>,
}

impl FromRequestParts<AppState> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, Infallible> {
        let access = parts.extensions.get::<Access>().cloned();
        Ok(Self {
            app: app.clone(),
            user_id: access.as_ref().map_or(UserId::LOCAL, |access| access.user_id),
            access,
        })
    }
}

/// The caller of a server function.
pub fn caller() -> Result<Caller, ApiError> {
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
    pub fn title(&self, title: &str) -> Result<String, ApiError> {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let limit = self.app.settings.limits.title_characters;
        if title.is_empty() {
            return self.answer(Err(ApiError::new(
                ErrorCode::BadRequest,
                "A title needs at least one character. The old one is kept.",
            )));
        }
        if title.chars().count() > limit {
            let message = format!("A title has at most {limit} characters. The old one is kept.");
            return self.answer(Err(ApiError::new(ErrorCode::TooLarge, message)));
        }
        Ok(title)
    }

    /// How much of a conversation goes into one answer.
    pub fn messages_page(&self) -> PageSize {
        let limits = &self.app.settings.limits;
        PageSize {
            messages: limits.messages_page,
            bytes: limits.messages_page_bytes,
        }
    }

    /// Makes a change and waits until it is committed.
    pub async fn change(&self, change: Change) -> Result<(), ApiError> {
        self.answer(self.app.journal.submit(change).await.map(drop))
    }

    /// Turns an outcome into the answer to a server function, with the status that goes with it.
    pub fn answer<T, E: Into<ApiError>>(&self, outcome: Result<T, E>) -> Result<T, ApiError> {
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
    pub fn found<T, E: Into<ApiError>>(&self, outcome: Result<Option<T>, E>) -> Result<T, ApiError> {
        self.answer(
            outcome
                .map_err(Into::into)
                .and_then(|found| found.ok_or_else(not_found)),
        )
    }
}

/// Parameters that can't be. Says which and why.
pub fn invalid_parameters(wrong: &str) -> ApiError {
    ApiError::new(
        ErrorCode::InvalidParameters,
        format!("{wrong} Nothing was changed."),
    )
}

/// What is not there, or is somebody else's: the same words for both.
pub fn not_found() -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        "There is no such conversation or message. It may have been deleted.",
    )
}

impl From<StorageError> for ApiError {
    fn from(error: StorageError) -> Self {
        tracing::error!(%error, "storage");
        if error.is_damage() {
            return Self::new(
                ErrorCode::Internal,
                "What is stored of this is damaged and can't be read. Nothing was changed. The log says more.",
            );
        }
        unavailable(error.trouble())
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

/// Storage does not work, and what to do.
fn unavailable(trouble: Trouble) -> ApiError {
    let message = match trouble {
        Trouble::Damaged => {
            // Not as unavailable, which is tried again.
            return ApiError::new(
                ErrorCode::Internal,
                "Parlor's database is damaged: this could not be read or stored. Nothing was changed. Stop Parlor, copy its data \
                 folder, then put back a backup, or save what can be saved with sqlite3's .recover. The log says more.",
            );
        }
        Trouble::Full => {
            "The disk is full: Parlor can't store anything. Nothing was changed; make room on the disk that holds Parlor's \
             data, then try again."
        }
        Trouble::NotWritable => {
            "Parlor may not write its data. Nothing was changed; give it write access to its data folder, then try again. \
             The log says more."
        }
        Trouble::Other => {
            "Parlor's database does not work just now. Nothing was changed; try again in a moment. The log says \
             more."
        }
    };
    ApiError::new(ErrorCode::Unavailable, message)
}

impl From<JournalError> for ApiError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Refused(Refusal::NotFound) => not_found(),
            JournalError::Refused(Refusal::Fault) => Self::new(
                ErrorCode::Internal,
                "A fault in Parlor: this could not be stored. Nothing was changed. The log says more.",
            ),
            JournalError::Refused(Refusal::RunActive) => Self::new(
                ErrorCode::RunActive,
                "This conversation is being answered. Nothing was changed: wait for the end, or stop it.",
            ),
            JournalError::Refused(Refusal::NotContinuable) => Self::new(
                ErrorCode::NotContinuable,
                "Only the last answer of a conversation can be continued, and only if it broke off or was stopped. Nothing was \
                 changed.",
            ),
            JournalError::Refused(Refusal::IntentReused) => Self::new(
                ErrorCode::IntentReused,
                "This request's id was used before, for something else. Nothing was changed; send it with a new id.",
            ),
            JournalError::Refused(Refusal::ActionSpent) => Self::new(
                ErrorCode::ActionSpent,
                "This was done already, or is not offered any more. Nothing was changed.",
            ),
            JournalError::Refused(Refusal::NoteChanged) => Self::new(
                ErrorCode::NoteChanged,
                "This note was changed elsewhere meanwhile, so it was not replaced. What you wrote is still in its box.",
            ),
            JournalError::Refused(Refusal::MemoryFull) => Self::new(
                ErrorCode::TooLarge,
                "As much is remembered as may be (setting limits.memories). Nothing was changed; delete something first.",
            ),
            JournalError::Refused(Refusal::LibraryFull) => Self::new(
                ErrorCode::TooLarge,
                "As many articles, or streams, are kept as may be (settings literature.articles and literature.streams). \
                 Nothing was changed; remove something first.",
            ),
            JournalError::Refused(Refusal::TokensFull) => Self::new(
                ErrorCode::TooLarge,
                "There are as many API tokens as may be (setting limits.api_tokens). Revoke one first.",
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
                    "The message has {length} bytes; Parlor takes {limit} (setting limits.message_bytes)."
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
            StartError::Parameters(wrong) => invalid_parameters(&wrong),
            StartError::ShuttingDown => Self::new(ErrorCode::Unavailable, "Parlor is being stopped."),
            StartError::Context(error) => error.into(),
            StartError::Journal(error) => error.into(),
        }
    }
}
