//! The responses of a batch request besides a complete answer.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    app::tokens,
    http::{error_response::status, problem, run_result::RunResult},
};
use parlor_protocol::{
    ApiError, ConversationId, ErrorCode, Message, MessageId, RawJson, RunError, RunStatus, ToolStatus,
    intent::StartedRun,
};
use parlor_storage::StorageError;

/// Parlor stopped waiting for an answer. Names the answer if it was started.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StoppedWaiting")]
pub struct AnswerLocation {
    conversation_id: ConversationId,
    user_message_id: MessageId,
    message_id: MessageId,
}

impl From<&StartedRun> for AnswerLocation {
    fn from(started: &StartedRun) -> Self {
        Self {
            conversation_id: started.conversation_id,
            user_message_id: started.user_message_id,
            message_id: started.assistant_message_id,
        }
    }
}

/// An answer that is not complete yet.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Later")]
pub struct PendingAnswer {
    #[serde(flatten)]
    location: AnswerLocation,
    /// `running` or `waiting`.
    status: RunStatus,
    /// The tool calls that wait for approval.
    approvals: Vec<PendingApproval>,
}

/// A tool call that waits for approval.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WaitingCall")]
struct PendingApproval {
    index: usize,
    tool: String,
    input: RawJson,
    label: String,
    detail: Option<String>,
}

/// Returns the response for an answer that is not complete yet.
pub fn pending_response(started: &StartedRun, message: &Message, status: RunStatus) -> Response {
    let calls = message
        .assistant()
        .into_iter()
        .flat_map(|answer| answer.tool_calls());
    let asked = calls.filter(|call| call.status == ToolStatus::Waiting);
    let approvals = asked.map(|call| PendingApproval {
        index: call.index,
        tool: call.tool.clone(),
        input: call.input.clone(),
        label: call.label.clone(),
        detail: call.detail.clone(),
    });
    let later = PendingAnswer {
        location: started.into(),
        status,
        approvals: approvals.collect(),
    };
    let mut response = (StatusCode::ACCEPTED, Json(later)).into_response();
    set_location(&mut response, started.assistant_message_id);
    response
}

fn set_location(response: &mut Response, message_id: MessageId) {
    if let Ok(location) = HeaderValue::from_str(&format!("/api/messages/{message_id}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
}

/// Returns a problem with the location of the answer: the run was started, and continues or ended without its
/// client.
fn problem_with_location(started: &StartedRun, error: &ApiError) -> Response {
    let location = AnswerLocation::from(started);
    let mut response = problem::respond(status(error), error.code.as_str(), &error.message, &location);
    set_location(&mut response, location.message_id);
    response
}

/// Returns the response for an access (API token, session or account) that has ended or could not be read.
pub fn access_ended_response(started: &StartedRun, ended: Result<(), StorageError>) -> Response {
    if let Err(error) = ended {
        tracing::error!(%error, "cannot read whether an access has ended");
        return unavailable_response(started);
    }
    let run = started.assistant_message_id;
    problem_with_location(
        started,
        &tokens::unauthorized(&format!(
            "Your access (API token, session or account) ended before the answer was complete. The answer continues and is saved as message {run}."
        )),
    )
}

/// Returns the response for a storage failure.
pub fn unavailable_response(started: &StartedRun) -> Response {
    let run = started.assistant_message_id;
    let message = format!(
        "Parlor's database is unavailable. The answer continues and is saved as soon as possible: GET \
         /api/messages/{run} returns it then. The log says more."
    );
    problem_with_location(started, &ApiError::new(ErrorCode::Unavailable, message))
}

/// Returns the response for a client whose run could not be ended before shutdown.
pub fn shutdown_response(started: &StartedRun) -> Response {
    let run = started.assistant_message_id;
    let message = format!(
        "Parlor is shutting down. The answer so far is saved: after the restart, GET /api/messages/{run} returns \
         it."
    );
    problem_with_location(started, &ApiError::new(ErrorCode::Unavailable, message))
}

/// A run that failed or was interrupted, with its partial answer.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FailedRun")]
pub struct FailedAnswer {
    error: RunError,
    payload: RunResult,
}

/// Returns the response for a run that failed or was interrupted.
pub fn failed_response(status: RunStatus, error: RunError, payload: RunResult) -> Response {
    let code = match status {
        RunStatus::Interrupted => "run_interrupted",
        _ => "run_failed",
    };
    let detail = error.message.clone();
    problem::respond(
        StatusCode::BAD_GATEWAY,
        code,
        &detail,
        &FailedAnswer { error, payload },
    )
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use serde_json::{Value, json};

    use super::*;
    use crate::http::problem::PROBLEM_JSON;

    fn started() -> StartedRun {
        StartedRun {
            conversation_id: ConversationId::new(),
            user_message_id: MessageId::new(),
            assistant_message_id: MessageId::new(),
        }
    }

    /// Asserts that a response is a problem with the location of the answer. Returns its status and code.
    async fn code(response: Response, started: &StartedRun) -> (u16, Value) {
        let message_id = started.assistant_message_id;
        let (parts, body) = response.into_parts();
        assert_eq!(
            parts.headers[header::LOCATION],
            *format!("/api/messages/{message_id}")
        );
        assert_eq!(parts.headers[header::CONTENT_TYPE], PROBLEM_JSON);
        let body = to_bytes(body, 1 << 20).await.unwrap();
        let problem: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(problem["message_id"], json!(message_id), "{problem}");
        assert_eq!(
            problem["conversation_id"],
            json!(started.conversation_id),
            "{problem}"
        );
        assert_eq!(problem["status"], parts.status.as_u16(), "{problem}");
        (parts.status.as_u16(), problem["code"].clone())
    }

    #[tokio::test]
    async fn shutdown_response_names_the_answers_location() {
        let started = started();
        let told = code(shutdown_response(&started), &started).await;
        assert_eq!(told, (503, json!("unavailable")));
    }

    #[tokio::test]
    async fn unreadable_token_is_not_reported_as_revoked() {
        let started = started();
        let told = code(access_ended_response(&started, Ok(())), &started).await;
        assert_eq!(told, (401, json!("unauthorized")));
        let broken = StorageError::Database(sqlx::Error::PoolClosed);
        let told = code(access_ended_response(&started, Err(broken)), &started).await;
        assert_eq!(told, (503, json!("unavailable")));
    }
}
