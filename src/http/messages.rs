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
        ConversationId, Message, MessageId, Position, RunStatus, chat::ModelList, intent::ApprovalAnswer,
    },
    storage::Approval,
};

/// `GET /api/messages/{id}`: also with the id that was announced before the model was called.
pub async fn get(caller: Caller, path: Result<Path<String>, PathRejection>) -> Result<Json<Found>, Problem> {
    let message_id = problem::message_id(path)?;
    let (conversation_id, message) = caller
        .app
        .storage
        .message(caller.user_id, message_id)
        .await?
        .ok_or_else(not_found)?;
    Ok(Json(Found {
        conversation_id,
        message,
    }))
}

/// A message and where it is. Not a `serde_json::Value`: what a model asks a tool may be nested deeper than that can be.
#[derive(Serialize)]
pub struct Found {
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
pub async fn run(caller: Caller, path: Result<Path<String>, PathRejection>) -> Result<Json<Run>, Problem> {
    let message_id = problem::message_id(path)?;
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
pub async fn models(Caller { app, .. }: Caller) -> Json<ModelList> {
    Json(app::models::list(&app).await)
}

/// `POST /api/runs/{id}/stop`: stops a run; one that has ended stays as it is.
pub async fn stop(caller: Caller, path: Result<Path<String>, PathRejection>) -> Result<Json<Value>, Problem> {
    let message_id = problem::message_id(path)?;
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
pub struct Answer {
    /// Which call of the run.
    index: usize,
    answer: ApprovalAnswer,
}

/// `POST /api/runs/{id}/approvals`: answers whether a tool call may begin. The first answer counts.
pub async fn answer(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    answer: Result<Json<Answer>, JsonRejection>,
) -> Result<StatusCode, Problem> {
    let run = problem::message_id(path)?;
    let Json(Answer { index, answer }) = answer?;
    let approval = Approval { run, index, answer };
    caller.app.runs.answer(caller.user_id, approval).await?;
    Ok(StatusCode::NO_CONTENT)
}
