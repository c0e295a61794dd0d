//! `POST /api/chat/batch`: a turn for clients that want the whole answer at once. The run continues if the
//! client disconnects, or if it takes longer than a response over HTTP should. The response then contains the
//! location of the answer.

use std::time::Duration;

use axum::{
    Json,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::{sleep, timeout};

use super::{
    chat_stream::{self, ChatRequest, Turn},
    error_response::status,
    problem::{self, Problem},
    request::JsonBody,
    run_result::RunResult,
};
use crate::{
    app::{AppState, Caller, not_found, tokens},
    hub::{Follower, FollowerItem, Topic},
    protocol::{
        ApiError, ConversationId, ErrorCode, EventBody, Message, MessageId, RawJson, RunError, RunStatus,
        ToolStatus, intent::StartedRun,
    },
    storage::StorageError,
};

/// The time limit for reading the end of a run at shutdown. It is shorter than the time for which connections
/// are kept.
const FINAL_READ_TIMEOUT: Duration = Duration::from_millis(500);

/// Saves the message, starts the run and waits for its end.
pub async fn start(
    caller: Caller,
    headers: HeaderMap,
    request: Result<JsonBody<ChatRequest>, Problem>,
) -> Result<Response, Problem> {
    let (started, with_diagnostics) = match chat_stream::start_turn(&caller, &headers, request).await? {
        Turn::Started(started, with_diagnostics) => (started, with_diagnostics),
        Turn::Queued(queued) => return Ok(queued.into_response()),
    };
    tokio::select! {
        biased;
        ended = caller.app.access.access_end(caller.access.clone()) => Ok(access_ended_response(&started, ended)),
        response = wait_for_answer(&caller, &started, with_diagnostics) => match response {
            Err(error) if error.code == ErrorCode::Unavailable => Ok(unavailable_response(&started)),
            response => Ok(response?),
        },
        () = wait_for_shutdown(&caller) => Ok(shutdown_response(&started)),
    }
}

/// Waits for the answer, up to a timeout.
async fn wait_for_answer(
    caller: &Caller,
    started: &StartedRun,
    with_diagnostics: bool,
) -> Result<Response, ApiError> {
    let patience = caller.app.settings.timeouts.batch;
    let run = started.assistant_message_id;
    let message = match timeout(patience, wait_until_settled(caller, run)).await {
        Ok(message) => message?,
        Err(_) => load_message(caller, run).await?,
    };
    respond(caller, started, &message, with_diagnostics).await
}

/// Waits for shutdown. Runs end before that, so their waiting clients get the result.
async fn wait_for_shutdown(caller: &Caller) {
    caller.app.shutdown.cancelled().await;
    sleep(FINAL_READ_TIMEOUT).await;
}

/// Waits until a run makes no more progress by itself: it has ended, or a tool call needs approval.
async fn wait_until_settled(caller: &Caller, run: MessageId) -> Result<Message, ApiError> {
    let app = &caller.app;
    let after = app.storage.last_position(caller.user_id).await?;
    // Follow from before the message is read, so that no event between the two is missed.
    let mut follower = Follower::new(
        app.hub.clone(),
        app.storage.clone(),
        Topic::Run(caller.user_id, run),
        after,
    );
    loop {
        let message = load_message(caller, run).await?;
        if message
            .assistant()
            .is_none_or(|answer| answer.status != RunStatus::Running)
        {
            return Ok(message);
        }
        wait_for_settling_event(app, &mut follower).await?;
    }
}

/// Waits for an event that may have settled a run. The deletion of a conversation also deletes its runs and
/// sends no event to their followers, so the state is also checked at each heartbeat.
async fn wait_for_settling_event(app: &AppState, follower: &mut Follower) -> Result<(), ApiError> {
    let look = app.settings.timeouts.heartbeat;
    let settles = async {
        loop {
            match follower.next().await? {
                FollowerItem::Event(logged) => {
                    let body = &logged.event.body;
                    if body.terminal_status().is_some()
                        || matches!(body, EventBody::Waiting { .. } | EventBody::Damaged)
                    {
                        return Ok(());
                    }
                }
                FollowerItem::Reset => std::future::pending().await,
            }
        }
    };
    timeout(look, settles).await.unwrap_or(Ok(()))
}

async fn load_message(caller: &Caller, run: MessageId) -> Result<Message, ApiError> {
    let found = caller.app.storage.message(caller.user_id, run).await?;
    found.map(|(_, message)| message).ok_or_else(not_found)
}

async fn respond(
    caller: &Caller,
    started: &StartedRun,
    message: &Message,
    with_diagnostics: bool,
) -> Result<Response, ApiError> {
    let status = message
        .assistant()
        .map(|answer| answer.status)
        .ok_or_else(not_found)?;
    if !status.is_terminal() {
        return Ok(pending_response(started, message, status));
    }
    let answer = RunResult::load(caller, started.conversation_id, message, with_diagnostics).await?;
    let payload = answer.ok_or_else(not_found)?;
    let error = message.assistant().and_then(|answer| answer.error.clone());
    Ok(match (status, error) {
        (RunStatus::Failed | RunStatus::Interrupted, Some(error)) => failed_response(status, error, payload),
        _ => Json(payload).into_response(),
    })
}

/// Parlor stopped waiting for an answer. Names the answer if it was started.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StoppedWaiting")]
pub(super) struct AnswerLocation {
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
pub(super) struct PendingAnswer {
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

fn pending_response(started: &StartedRun, message: &Message, status: RunStatus) -> Response {
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
fn access_ended_response(started: &StartedRun, ended: Result<(), StorageError>) -> Response {
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
fn unavailable_response(started: &StartedRun) -> Response {
    let run = started.assistant_message_id;
    let message = format!(
        "Parlor's database is unavailable. The answer continues and is saved as soon as possible: GET \
         /api/messages/{run} returns it then. The log says more."
    );
    problem_with_location(started, &ApiError::new(ErrorCode::Unavailable, message))
}

/// Returns the response for a client whose run could not be ended before shutdown.
fn shutdown_response(started: &StartedRun) -> Response {
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
pub(super) struct FailedAnswer {
    error: RunError,
    payload: RunResult,
}

fn failed_response(status: RunStatus, error: RunError, payload: RunResult) -> Response {
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

    use super::{super::problem::PROBLEM_JSON, *};

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
