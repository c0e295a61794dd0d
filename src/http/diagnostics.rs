//! `/api/messages/{id}/diagnostics`: the diagnostics of an answer.

use axum::{
    Json,
    extract::{Path, rejection::PathRejection},
};

use super::problem::{self, Problem};
use crate::app::{self, Caller};
use parlor_runs::diagnostics::Diagnostics;

/// `GET /api/messages/{id}/diagnostics`: also during the run, with the data so far.
pub async fn get(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Diagnostics>, Problem> {
    let message_id = problem::parse_message_id(path)?;
    Ok(Json(app::diagnostics::load(&caller, message_id).await?))
}
