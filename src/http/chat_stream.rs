//! `POST /api/chat/stream`: a turn for clients without the page. It streams the run that it starts; the run
//! goes on whether anyone listens or not, and `GET /api/runs/{id}/events?after=N` takes up the stream again.

use std::collections::HashMap;

use axum::{
    Json,
    extract::{
        Path, Query, State,
        rejection::{JsonRejection, PathRejection, QueryRejection},
    },
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    AppState, Caller,
    caller::{fingerprint, not_found},
    event_stream::{self, Projection},
    parameters::ParametersBody,
    payload::LastEvent,
    problem::{self, Problem, bad_request},
};
use crate::{
    hub::{Follower, Topic},
    protocol::{
        ConversationId, IntentId, MessageId, Position,
        intent::{Continue, SendMessage},
    },
    storage::{LoggedEvent, RunKey, StoredRun},
};

/// The header that names a request, so that sending it twice does it once.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// A turn to be answered.
#[derive(Debug, Serialize, Deserialize)]
pub struct ChatRequest {
    message: String,
    /// Goes on with this conversation, or makes it; without it, a new one is made.
    conversation_id: Option<ConversationId>,
    /// The model to answer, as `endpoint/model`.
    model: Option<String>,
    /// Tools that have to be used before the answer, by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    force_tools: Vec<String>,
    /// How the model is asked from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parameters: Option<ParametersBody>,
    /// What the person is looking at.
    context: Option<Value>,
    /// How the person said it.
    interaction_type: Option<String>,
    /// Not taken: the server has the history.
    #[serde(skip_serializing)]
    conversation_history: Option<Value>,
}

/// Saves the message, starts the run and streams it.
pub async fn start(
    State(app): State<AppState>,
    headers: HeaderMap,
    request: Result<Json<ChatRequest>, JsonRejection>,
) -> Result<Response, Problem> {
    let caller = Caller::new(app);
    let Json(request) = request?;
    if request.conversation_history.is_some() {
        return Err(bad_request(
            "conversation_history is not taken: Parlor has the history of a conversation. Name it with \
             conversation_id.",
        ));
    }
    let fingerprint = fingerprint(&request)?;
    let intent = SendMessage {
        intent_id: intent_id(&headers)?,
        conversation_id: request.conversation_id.unwrap_or_default(),
        user_message_id: MessageId::new(),
        text: request.message,
        model: request.model,
        force_tools: request.force_tools,
        parameters: request.parameters.map(ParametersBody::asked),
    };
    let started = caller.app.runs.send(caller.user_id, intent, fingerprint).await?;
    stream(caller, started.assistant_message_id, Position(0)).await
}

/// Goes on with an answer that did not come to its end, and streams that.
pub async fn go_on(
    State(app): State<AppState>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let caller = Caller::new(app);
    let message_id = problem::message_id(path)?;
    let run = caller.app.storage.run(caller.user_id, message_id).await?;
    let intent = Continue {
        intent_id: intent_id(&headers)?,
        conversation_id: run.ok_or_else(not_found)?.key.conversation_id,
        message_id,
    };
    let fingerprint = fingerprint(&intent)?;
    let started = caller.app.runs.go_on(caller.user_id, intent, fingerprint).await?;
    stream(caller, started.assistant_message_id, Position(0)).await
}

/// Streams what a run does after a position.
pub async fn resume(
    State(app): State<AppState>,
    path: Result<Path<String>, PathRejection>,
    query: Result<Query<HashMap<String, String>>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let run = problem::message_id(path)?;
    let Query(query) = query?;
    let after = event_stream::position(&query, &headers)?.unwrap_or_default();
    stream(Caller::new(app), run, after).await
}

async fn stream(caller: Caller, run: MessageId, after: Position) -> Result<Response, Problem> {
    let Caller { app, user_id } = caller;
    let StoredRun {
        key,
        first_position,
        last_position,
        ..
    } = app
        .storage
        .run(user_id, run)
        .await?
        .ok_or_else(|| Problem(not_found()))?;
    // A reader that comes back may have seen a part of what was before the run was continued.
    let after = if after == Position(0) {
        Position(first_position.0.saturating_sub(1))
    } else {
        after
    };
    if last_position.is_some_and(|last| after >= last) {
        // An EventSource that comes back after the end: by its standard, this tells it to stay away.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let follower = Follower::new(
        app.hub.clone(),
        app.storage.clone(),
        Topic::Run(user_id, run),
        after,
    );
    Ok(event_stream::respond(
        follower,
        &app,
        OneRun {
            app: app.clone(),
            run: key,
        },
    ))
}

pub(super) fn intent_id(headers: &HeaderMap) -> Result<IntentId, Problem> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else {
        return Ok(IntentId::new());
    };
    let parsed = value
        .to_str()
        .ok()
        .and_then(|value| value.trim_matches('"').parse().ok());
    parsed.ok_or_else(|| bad_request("The header Idempotency-Key must be a UUID."))
}

/// The events of one run; the last one brings the whole answer.
struct OneRun {
    app: AppState,
    run: RunKey,
}

impl OneRun {
    /// Whether the run was continued after this end of it.
    async fn goes_on_after(&self, end: &LoggedEvent) -> bool {
        let run = self.app.storage.run(self.run.user_id, self.run.message_id).await;
        matches!(run, Ok(Some(run)) if run.last_position != Some(end.event.position))
    }
}

impl Projection for OneRun {
    async fn frame(&mut self, logged: &LoggedEvent) -> (String, bool) {
        if logged.event.body.terminal_status().is_none() || self.goes_on_after(logged).await {
            return (logged.json.clone(), false);
        }
        let with_payload = async {
            let (_, message) = self
                .app
                .storage
                .message(self.run.user_id, self.run.message_id)
                .await
                .ok()??;
            let last = LastEvent::of(&logged.event, self.run, message.assistant()?);
            serde_json::to_string(&last).ok()
        };
        (with_payload.await.unwrap_or_else(|| logged.json.clone()), true)
    }

    async fn is_over(&mut self) -> bool {
        // A conversation that is deleted takes its runs with it: nothing more will come.
        matches!(
            self.app.storage.run(self.run.user_id, self.run.message_id).await,
            Ok(None)
        )
    }
}
