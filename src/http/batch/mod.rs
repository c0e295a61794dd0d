//! `POST /api/chat/batch`: a turn for clients that want the whole answer at once. The run continues if the
//! client disconnects, or if it takes longer than a response over HTTP should. The response then contains the
//! location of the answer.

mod response;

use std::time::Duration;

use axum::{
    Json,
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use tokio::time::{sleep, timeout};

pub(super) use self::response::{AnswerLocation, FailedAnswer, PendingAnswer};
use self::response::{
    access_ended_response, failed_response, pending_response, shutdown_response, unavailable_response,
};
use super::{
    chat_stream::{self, ChatRequest, TurnOutcome},
    problem::Problem,
    request::JsonBody,
    run_result::RunResult,
};
use crate::app::{AppState, Caller, not_found};
use parlor_journal::hub::{Follower, FollowerItem, Topic};
use parlor_protocol::{
    ApiError, ErrorCode, EventBody, Message, MessageId, Placeholder, RunEvent, RunStatus, intent::StartedRun,
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
        TurnOutcome::Started(started, with_diagnostics) => (started, with_diagnostics),
        TurnOutcome::Queued(queued) => return Ok(queued.into_response()),
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
                        || matches!(
                            body,
                            EventBody::Run(RunEvent::Waiting { .. })
                                | EventBody::Placeholder(Placeholder::Damaged)
                        )
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
    let (conversation_id, message) = found.ok_or_else(not_found)?;
    caller.require_not_deleted(conversation_id).await?;
    Ok(message)
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
