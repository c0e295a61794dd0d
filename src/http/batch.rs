//! `POST /api/chat/batch`: a turn for clients that want the whole answer at once. The run goes on if they go away, or if it takes
//! longer than anyone should wait for an answer over HTTP: then they are told where to find it.

use std::time::Duration;

use axum::{
    Json,
    extract::rejection::JsonRejection,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use tokio::time::{sleep, timeout};

use super::{
    AppState, Caller,
    caller::not_found,
    chat_stream::{self, ChatRequest},
    payload::Answer,
    problem::{PROBLEM_JSON, Problem, RETRY_AFTER},
    tokens,
};
use crate::{
    api::{ApiError, ErrorCode},
    hub::{Followed, Follower, Topic},
    protocol::{
        ConversationId, EventBody, Json as RawJson, Message, MessageId, RunError, RunStatus, ToolStatus,
        intent::Started,
    },
};

/// How long it may take to read how a run has ended when Parlor stops: shorter than connections are kept.
const LAST_LOOK: Duration = Duration::from_millis(500);

/// Saves the message, starts the run and waits for its end.
pub async fn start(
    caller: Caller,
    headers: HeaderMap,
    request: Result<Json<ChatRequest>, JsonRejection>,
) -> Result<Response, Problem> {
    let (started, with_diagnostics) = chat_stream::begin(&caller, &headers, request).await?;
    let patience = Duration::from_secs_f64(caller.app.settings.timeouts.batch_seconds);
    let run = started.assistant_message_id;
    let waited = tokio::select! {
        biased;
        () = caller.app.tokens.ended(caller.access.clone()) => return Err(shut_out(run).into()),
        waited = timeout(patience, settled(&caller, run)) => waited,
        () = stopped(&caller) => return Ok(stopping(started)),
    };
    let message = match waited {
        Ok(message) => message?,
        Err(_) => found(&caller, run).await?,
    };
    respond(&caller, started, &message, with_diagnostics).await
}

/// Parlor stops. The runs were ended before that, and who waits for one is to hear of it.
async fn stopped(caller: &Caller) {
    caller.app.shutdown.cancelled().await;
    sleep(LAST_LOOK).await;
}

/// Waits until nothing more comes of a run by itself: it has ended, or a person is asked.
async fn settled(caller: &Caller, run: MessageId) -> Result<Message, ApiError> {
    let app = &caller.app;
    let after = app.storage.head(caller.user_id).await?;
    // From before the message is read on, so that nothing can fall between the two.
    let mut follower = Follower::new(
        app.hub.clone(),
        app.storage.clone(),
        Topic::Run(caller.user_id, run),
        after,
    );
    loop {
        let message = found(caller, run).await?;
        if message
            .assistant()
            .is_none_or(|answer| answer.status != RunStatus::Running)
        {
            return Ok(message);
        }
        may_have_settled(app, &mut follower).await?;
    }
}

/// Waits for an event with which a run may have settled. A conversation that is deleted takes its runs with it and says
/// nothing to who follows one of them, so now and then it is worth a look.
async fn may_have_settled(app: &AppState, follower: &mut Follower) -> Result<(), ApiError> {
    let look = Duration::from_secs_f64(app.settings.timeouts.heartbeat_seconds);
    let settles = async {
        loop {
            match follower.next().await? {
                Followed::Event(logged) => {
                    let body = &logged.event.body;
                    if body.terminal_status().is_some() || matches!(body, EventBody::Waiting { .. }) {
                        return Ok(());
                    }
                }
                Followed::Reset => std::future::pending().await,
            }
        }
    };
    timeout(look, settles).await.unwrap_or(Ok(()))
}

async fn found(caller: &Caller, run: MessageId) -> Result<Message, ApiError> {
    let found = caller.app.storage.message(caller.user_id, run).await?;
    found.map(|(_, message)| message).ok_or_else(not_found)
}

/// The token that the request came with is not taken any more.
fn shut_out(run: MessageId) -> ApiError {
    tokens::refused(&format!(
        "This API token was revoked, or has expired, while the answer was made. The answer goes on, and is kept as message {run}."
    ))
}

async fn respond(
    caller: &Caller,
    started: Started,
    message: &Message,
    with_diagnostics: bool,
) -> Result<Response, Problem> {
    let Started { conversation_id, .. } = started;
    let status = message
        .assistant()
        .map(|answer| answer.status)
        .ok_or_else(not_found)?;
    if !status.is_terminal() {
        return Ok(later(started, message, status));
    }
    let answer = Answer::of(caller, conversation_id, message, with_diagnostics).await?;
    let payload = answer.ok_or_else(not_found)?;
    let error = message.assistant().and_then(|answer| answer.error.clone());
    Ok(match (status, error) {
        (RunStatus::Failed | RunStatus::Interrupted, Some(error)) => failed(status, error, payload),
        _ => Json(payload).into_response(),
    })
}

/// Where to find what there is not yet.
#[derive(Serialize)]
struct Later {
    conversation_id: ConversationId,
    user_message_id: MessageId,
    message_id: MessageId,
    status: RunStatus,
    /// The tool calls that a person has to allow first.
    approvals: Vec<Asked>,
}

#[derive(Serialize)]
struct Asked {
    index: usize,
    tool: String,
    input: RawJson,
    label: String,
    detail: Option<String>,
}

fn later(started: Started, message: &Message, status: RunStatus) -> Response {
    let Started {
        conversation_id,
        user_message_id,
        assistant_message_id: message_id,
    } = started;
    let calls = message
        .assistant()
        .into_iter()
        .flat_map(|answer| answer.tool_calls());
    let asked = calls.filter(|call| call.status == ToolStatus::Waiting);
    let approvals = asked.map(|call| Asked {
        index: call.index,
        tool: call.tool.clone(),
        input: call.input.clone(),
        label: call.label.clone(),
        detail: call.detail.clone(),
    });
    let later = Later {
        conversation_id,
        user_message_id,
        message_id,
        status,
        approvals: approvals.collect(),
    };
    let mut response = (StatusCode::ACCEPTED, Json(later)).into_response();
    say_where(&mut response, message_id);
    response
}

fn say_where(response: &mut Response, message_id: MessageId) {
    if let Ok(place) = HeaderValue::from_str(&format!("/api/messages/{message_id}")) {
        response.headers_mut().insert(header::LOCATION, place);
    }
}

/// A problem that says where the answer will be found. For who waits for a run that could not be ended before Parlor was.
#[derive(Serialize)]
struct Stopping {
    r#type: &'static str,
    title: &'static str,
    status: u16,
    detail: String,
    code: &'static str,
    conversation_id: ConversationId,
    user_message_id: MessageId,
    message_id: MessageId,
}

fn stopping(started: Started) -> Response {
    let Started {
        conversation_id,
        user_message_id,
        assistant_message_id: message_id,
    } = started;
    let stopping = Stopping {
        r#type: "about:blank",
        title: "Service Unavailable",
        status: StatusCode::SERVICE_UNAVAILABLE.as_u16(),
        detail: format!(
            "Parlor is being stopped. What the answer had come to is kept: when Parlor is there again, GET \
             /api/messages/{message_id} has it."
        ),
        code: ErrorCode::Unavailable.as_str(),
        conversation_id,
        user_message_id,
        message_id,
    };
    let headers = [
        (header::CONTENT_TYPE, PROBLEM_JSON),
        (header::RETRY_AFTER, RETRY_AFTER),
    ];
    let mut response = (StatusCode::SERVICE_UNAVAILABLE, headers, Json(stopping)).into_response();
    say_where(&mut response, message_id);
    response
}

/// A problem that says what had come of the answer all the same.
#[derive(Serialize)]
struct Failed {
    r#type: &'static str,
    title: &'static str,
    status: u16,
    detail: String,
    code: &'static str,
    error: RunError,
    payload: Answer,
}

fn failed(status: RunStatus, error: RunError, payload: Answer) -> Response {
    let code = match status {
        RunStatus::Interrupted => "run_interrupted",
        _ => "run_failed",
    };
    let failed = Failed {
        r#type: "about:blank",
        title: "Bad Gateway",
        status: StatusCode::BAD_GATEWAY.as_u16(),
        detail: error.message.clone(),
        code,
        error,
        payload,
    };
    let headers = [(header::CONTENT_TYPE, PROBLEM_JSON)];
    (StatusCode::BAD_GATEWAY, headers, Json(failed)).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use serde_json::{Value, json};

    use super::*;

    #[tokio::test]
    async fn if_a_run_can_t_be_ended_before_parlor_is_who_waits_is_told_where_it_is() {
        let started = Started {
            conversation_id: ConversationId::new(),
            user_message_id: MessageId::new(),
            assistant_message_id: MessageId::new(),
        };
        let message_id = started.assistant_message_id;
        let response = stopping(started);
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        let headers = response.headers().clone();
        assert_eq!(headers[header::LOCATION], *format!("/api/messages/{message_id}"));
        assert_eq!(headers[header::CONTENT_TYPE], PROBLEM_JSON);
        let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let problem: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            (&problem["code"], &problem["message_id"]),
            (&json!("unavailable"), &json!(message_id))
        );
    }
}
