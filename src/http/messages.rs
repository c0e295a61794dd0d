//! One message by its id, and stopping the run that makes it.

use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
};
use serde_json::{Value, json};

use super::{
    AppState, Caller,
    caller::not_found,
    problem::{self, Problem},
};

/// `GET /api/messages/{id}`: also with the id that was announced before the model was called.
pub async fn get(
    State(app): State<AppState>,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, Problem> {
    let caller = Caller::new(app);
    let message_id = problem::message_id(path)?;
    let (conversation_id, message) = caller
        .app
        .storage
        .message(caller.user_id, message_id)
        .await?
        .ok_or_else(not_found)?;
    Ok(Json(
        json!({ "conversation_id": conversation_id, "message": message }),
    ))
}

/// `POST /api/runs/{id}/stop`: stops a run; one that has ended stays as it is.
pub async fn stop(
    State(app): State<AppState>,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, Problem> {
    let caller = Caller::new(app);
    let message_id = problem::message_id(path)?;
    let status = caller
        .app
        .runs
        .stop(caller.user_id, message_id)
        .await?
        .ok_or_else(not_found)?;
    Ok(Json(json!({ "message_id": message_id, "status": status })))
}
