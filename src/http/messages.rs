//! One message by its id, where the run that makes it stands, stopping it, and answering what it asks; and the models there are.

use axum::{
    Json,
    extract::{
        Path,
        rejection::{JsonRejection, PathRejection},
    },
    http::StatusCode,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::problem::{self, Problem};
use crate::{
    app::{self, Caller, not_found},
    protocol::{
        ConversationId, Message, MessageId, Position, RunStatus, intent::ApprovalAnswer,
        model_list::ModelList,
    },
    storage::ApprovalDecision,
};

/// `GET /api/messages/{id}`: also with the id that was announced before the model was called.
pub async fn get(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<LocatedMessage>, Problem> {
    let message_id = problem::parse_message_id(path)?;
    let (conversation_id, message) = caller
        .app
        .storage
        .message(caller.user_id, message_id)
        .await?
        .ok_or_else(not_found)?;
    Ok(Json(LocatedMessage {
        conversation_id,
        message,
    }))
}

/// A message and where it is. Not a `serde_json::Value`: what a model asks a tool may be nested deeper than that can be.
#[derive(Serialize)]
pub struct LocatedMessage {
    conversation_id: ConversationId,
    message: Message,
}

/// Where a run stands.
#[derive(Serialize)]
pub struct Run {
    message_id: MessageId,
    conversation_id: ConversationId,
    status: RunStatus,
    /// Its first event since it was started or last continued, and its last one.
    first_position: Position,
    last_position: Option<Position>,
}

/// `GET /api/runs/{id}`: where a run stands. Its id is that of the answer that it makes.
pub async fn get_run(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Run>, Problem> {
    let message_id = problem::parse_message_id(path)?;
    let run = caller.app.storage.run(caller.user_id, message_id).await?;
    let run = run.ok_or_else(not_found)?;
    Ok(Json(Run {
        message_id,
        conversation_id: run.key.conversation_id,
        status: run.status,
        first_position: run.first_position,
        last_position: run.last_position,
    }))
}

/// `GET /api/models`: the models that can be chosen now.
pub async fn list_models(Caller { app, .. }: Caller) -> Json<ModelList> {
    Json(app::models::list(&app).await)
}

/// `POST /api/runs/{id}/stop`: stops a run; one that has ended stays as it is.
pub async fn stop_run(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, Problem> {
    let message_id = problem::parse_message_id(path)?;
    let status = caller
        .app
        .runs
        .stop(caller.user_id, message_id)
        .await?
        .ok_or_else(not_found)?;
    Ok(Json(json!({ "message_id": message_id, "status": status })))
}

/// Whether a tool call may begin.
#[derive(Debug, Deserialize)]
pub struct ApprovalRequest {
    /// Which call of the run.
    index: usize,
    answer: ApprovalAnswer,
}

/// `POST /api/runs/{id}/approvals`: answers whether a tool call may begin. The first answer counts.
pub async fn answer_approval(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    answer: Result<Json<ApprovalRequest>, JsonRejection>,
) -> Result<StatusCode, Problem> {
    let run = problem::parse_message_id(path)?;
    let Json(ApprovalRequest { index, answer }) = answer?;
    let approval = ApprovalDecision { run, index, answer };
    caller.app.runs.answer_approval(caller.user_id, approval).await?;
    Ok(StatusCode::NO_CONTENT)
}
