//! How an answer was made: as JSON, for any client, and as the page shows it. Only for whose conversation it is.

use axum::{
    Json,
    extract::{Path, rejection::PathRejection},
};

use super::{
    Caller,
    problem::{self, Problem},
};
use crate::{
    api::{ApiError, ErrorCode},
    diagnostics::Diagnostics,
    protocol::{MessageId, diagnostics::DiagnosticsView},
};

/// `GET /api/messages/{id}/diagnostics`: also while the answer is made, with what there is.
pub async fn get(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Diagnostics>, Problem> {
    let message_id = problem::message_id(path)?;
    Ok(Json(of(&caller, message_id).await?))
}

/// What the page shows of it.
pub async fn view(caller: &Caller, message_id: MessageId) -> Result<DiagnosticsView, ApiError> {
    Ok(of(caller, message_id).await?.view())
}

/// How an answer was made.
pub async fn of(caller: &Caller, message_id: MessageId) -> Result<Diagnostics, ApiError> {
    let storage = &caller.app.storage;
    let calls = storage.model_calls(caller.user_id, message_id).await?;
    let message = storage.message(caller.user_id, message_id).await?;
    let (conversation_id, message) = message.ok_or_else(nothing_known)?;
    let diagnostics = Diagnostics::of(conversation_id, &message, &calls)?.ok_or_else(nothing_known)?;
    let looking = match message.parent_id {
        Some(asked) => storage.looking(caller.user_id, asked).await?,
        None => None,
    };
    Ok(match looking {
        Some(looking) => {
            let secrets = crate::secrets::Secrets::of(&caller.app.settings);
            diagnostics.with_context(&looking, &secrets)?
        }
        None => diagnostics,
    })
}

fn nothing_known() -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        "Nothing is known of how this answer was made. Only the newest answers of a conversation have diagnostics (setting \
         limits.diagnostics_answers), and those whose model was called.",
    )
}
