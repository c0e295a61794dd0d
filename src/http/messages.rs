//! One message by its id; the state of its run, stopping it, and approvals; and the list of models.

use axum::{
    Json,
    extract::{Path, rejection::PathRejection},
    http::StatusCode,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    problem::{self, Problem},
    request::JsonBody,
};
use crate::app::{self, Caller, not_found};
use parlor_protocol::{
    ConversationId, Message, MessageId, Position, RunStatus, intent::ApprovalAnswer, model_list::ModelList,
};
use parlor_storage::ApprovalDecision;

/// `GET /api/messages/{id}`: also with an id that was announced before the model call.
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
    caller.require_not_deleted(conversation_id).await?;
    Ok(Json(LocatedMessage {
        conversation_id,
        message,
    }))
}

/// `DELETE /api/messages/{id}`: deletes a message with all that follow it.
pub async fn delete(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, Problem> {
    let message_id = problem::parse_message_id(path)?;
    let found = caller.app.storage.message(caller.user_id, message_id).await?;
    let (conversation_id, _) = found.ok_or_else(not_found)?;
    app::deletion::delete_message(&caller, conversation_id, message_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A message and its conversation.
// Not a `serde_json::Value`: the arguments of a tool call may be nested deeper than that type supports.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FoundMessage")]
pub struct LocatedMessage {
    conversation_id: ConversationId,
    message: Message,
}

/// The state of a run.
#[derive(Serialize, JsonSchema)]
pub struct Run {
    message_id: MessageId,
    conversation_id: ConversationId,
    status: RunStatus,
    /// The position of its first event since it was started or last continued.
    first_position: Position,
    /// The position of its last event; null before its end.
    last_position: Option<Position>,
}

/// `GET /api/runs/{id}`: the state of a run. Its id is the id of the answer that it creates.
pub async fn get_run(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Run>, Problem> {
    let message_id = problem::parse_message_id(path)?;
    let run = caller.app.storage.run(caller.user_id, message_id).await?;
    let run = run.ok_or_else(not_found)?;
    caller.require_not_deleted(run.key.conversation_id).await?;
    Ok(Json(Run {
        message_id,
        conversation_id: run.key.conversation_id,
        status: run.status,
        first_position: run.first_position,
        last_position: run.last_position,
    }))
}

/// `GET /api/models`: the models that can be chosen now.
pub async fn list_models(caller: Caller) -> Result<Json<ModelList>, Problem> {
    let list = app::models::list(&caller.app, caller.user_id).await?;
    Ok(Json(list))
}

/// The status of a run after a stop request.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Stopped")]
pub struct StoppedRun {
    message_id: MessageId,
    status: RunStatus,
}

/// `POST /api/runs/{id}/stop`: stops a run. A run that has ended is not changed.
pub async fn stop_run(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<StoppedRun>, Problem> {
    let message_id = problem::parse_message_id(path)?;
    let status = caller
        .app
        .runs
        .stop(caller.user_id, message_id)
        .await?
        .ok_or_else(not_found)?;
    Ok(Json(StoppedRun { message_id, status }))
}

/// The answer to an approval request.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ApprovalAnswer")]
pub struct ApprovalRequest {
    /// The index of the call in its run.
    index: usize,
    answer: ApprovalAnswer,
}

/// `POST /api/runs/{id}/approvals`: approves or rejects a tool call. The first answer counts.
pub async fn answer_approval(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    answer: Result<JsonBody<ApprovalRequest>, Problem>,
) -> Result<StatusCode, Problem> {
    let run = problem::parse_message_id(path)?;
    let JsonBody(ApprovalRequest { index, answer }) = answer?;
    let approval = ApprovalDecision { run, index, answer };
    caller.app.runs.answer_approval(caller.user_id, approval).await?;
    Ok(StatusCode::NO_CONTENT)
}
