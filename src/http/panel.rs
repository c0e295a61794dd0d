//! A payload: as it was made, for any client, and as the panel shows it, for the page.

use axum::{
    Json,
    extract::{Path, rejection::PathRejection},
};

use super::{Caller, caller::not_found, problem::Problem};
use crate::{
    api::{ApiError, ErrorCode},
    payloads,
    protocol::{ConversationId, PanelView, Payload},
};

/// `GET /api/conversations/{id}/payloads/{id}`: what a tool or the model has made.
pub async fn get(
    caller: Caller,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Json<Payload>, Problem> {
    let Path((conversation_id, payload_id)) = path.map_err(|_| not_found())?;
    let conversation_id = conversation_id.parse().map_err(|_| not_found())?;
    Ok(Json(payload(&caller, conversation_id, &payload_id).await?))
}

/// What the panel shows of it.
pub async fn view(
    caller: &Caller,
    conversation_id: ConversationId,
    payload_id: &str,
) -> Result<PanelView, ApiError> {
    let payload = payload(caller, conversation_id, payload_id).await?;
    // Other requests don't wait while texts are compared.
    let view = tokio::task::spawn_blocking(move || payloads::view(&payload));
    view.await.map_err(|error| {
        tracing::error!(%error, "a payload could not be made a view of");
        ApiError::new(
            ErrorCode::Internal,
            "A fault in Parlor: this can't be shown. The log says more.",
        )
    })
}

async fn payload(
    caller: &Caller,
    conversation_id: ConversationId,
    payload_id: &str,
) -> Result<Payload, ApiError> {
    let storage = &caller.app.storage;
    let payload = storage
        .payload(caller.user_id, conversation_id, payload_id)
        .await?;
    payload.ok_or_else(not_found)
}
