//! `POST /api/chat/stream`: a turn for clients without the page. The response streams the run that it starts.
//! The run continues without a reader, and `GET /api/runs/{id}/events?after=N` resumes the stream.

use axum::{
    extract::{Path, rejection::PathRejection},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    event_stream::{self, Projection},
    interaction::InteractionFields,
    parameters::ParametersBody,
    problem::{self, Problem, bad_request},
    request::{JsonBody, QueryParameters},
    run_result::{FinalEvent, RunResult},
    tool_markers::{Frame, InsertedEvent, ToolMarkers},
};
use crate::{
    app::{Caller, fingerprint, not_found, turns},
    hub::{Follower, Topic},
    protocol::{
        ConversationId, Event, EventBody, IntentId, MessageId, PageContext, Position,
        intent::{ContinueRun, Regenerate, SendMessage, StartedRun},
    },
    storage::{LoggedEvent, RunKey, StoredRun},
};

/// The header that identifies a request, so that a repeated request runs once.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// A message to be answered.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ChatRequest {
    /// The user's text.
    message: String,
    /// The conversation, which is created if it does not exist. Without it, a new one is created.
    conversation_id: Option<ConversationId>,
    /// `endpoint/model`, or the model's id alone if exactly one endpoint lists it. Default: the conversation's model,
    /// else the default model. An unknown or ambiguous name is rejected (422, `unknown_model`).
    model: Option<String>,
    /// Names of tools that the model must use before it answers this message. Unknown names are rejected (422,
    /// `unknown_tool`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    force_tools: Vec<String>,
    /// The model parameters of this conversation from now on; unchanged if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parameters: Option<ParametersBody>,
    /// The page and the items that the user has open.
    context: Option<PageContext>,
    #[serde(flatten)]
    how_said: InteractionFields,
    /// Includes diagnostics in the payload.
    // Not part of the request's fingerprint: the same request with another value is the same.
    #[serde(default, skip_serializing)]
    diagnostics: bool,
    /// Rejected: the server has the history.
    #[serde(skip_serializing)]
    #[schemars(skip)]
    conversation_history: Option<Value>,
}

/// Saves the message, starts the run and streams it.
pub async fn start(
    caller: Caller,
    headers: HeaderMap,
    request: Result<JsonBody<ChatRequest>, Problem>,
) -> Result<Response, Problem> {
    let (started, diagnostics) = start_turn(&caller, &headers, request).await?;
    stream(caller, started.assistant_message_id, Position(0), diagnostics).await
}

/// Saves the message and starts the run. Also returns true if the diagnostics of the answer are requested.
pub async fn start_turn(
    caller: &Caller,
    headers: &HeaderMap,
    request: Result<JsonBody<ChatRequest>, Problem>,
) -> Result<(StartedRun, bool), Problem> {
    let JsonBody(mut request) = request?;
    if request.conversation_history.is_some() {
        return Err(bad_request(
            "conversation_history is not taken: Parlor has the history of a conversation. Name it with \
             conversation_id.",
        ));
    }
    let interaction = request.how_said.parse()?;
    request.context = caller.app.pages.normalize(request.context)?;
    let fingerprint = fingerprint(&request)?;
    let intent = SendMessage {
        intent_id: parse_intent_id(headers)?,
        conversation_id: request.conversation_id.unwrap_or_default(),
        user_message_id: MessageId::new(),
        text: request.message,
        model: request.model,
        force_tools: request.force_tools,
        parameters: request.parameters.map(ParametersBody::into_raw),
        context: request.context,
        interaction,
    };
    let started = turns::send(caller, intent, fingerprint).await?;
    Ok((started, request.diagnostics))
}

/// The options of a new answer's stream.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ContinuationQuery {
    /// Includes diagnostics in the final payload.
    #[schemars(with = "Option<bool>")]
    diagnostics: Option<String>,
}

/// The requested part of a run's stream.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RunStreamQuery {
    /// Only events after this position.
    #[schemars(with = "Option<Position>")]
    after: Option<String>,
    /// Includes diagnostics in the final payload.
    #[schemars(with = "Option<bool>")]
    diagnostics: Option<String>,
}

/// Continues an answer that was stopped, failed, was interrupted or was cut short, and streams it.
pub async fn continue_run(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    query: Result<QueryParameters<ContinuationQuery>, Problem>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (run, diagnostics) = load_addressed_run(&caller, path, query).await?;
    let intent = ContinueRun {
        intent_id: parse_intent_id(&headers)?,
        conversation_id: run.conversation_id,
        message_id: run.message_id,
    };
    let fingerprint = fingerprint(&intent)?;
    let started = caller
        .app
        .runs
        .continue_run(caller.user_id, intent, fingerprint)
        .await?;
    stream(caller, started.assistant_message_id, Position(0), diagnostics).await
}

/// Regenerates an answer, and streams it.
pub async fn regenerate(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    query: Result<QueryParameters<ContinuationQuery>, Problem>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (run, diagnostics) = load_addressed_run(&caller, path, query).await?;
    let intent = Regenerate {
        intent_id: parse_intent_id(&headers)?,
        conversation_id: run.conversation_id,
        message_id: run.message_id,
        model: None,
    };
    let fingerprint = fingerprint(&intent)?;
    let started = turns::regenerate(&caller, intent, fingerprint).await?;
    stream(caller, started.assistant_message_id, Position(0), diagnostics).await
}

/// Loads the run that the address names. Also returns true if its diagnostics are requested.
async fn load_addressed_run(
    caller: &Caller,
    path: Result<Path<String>, PathRejection>,
    query: Result<QueryParameters<ContinuationQuery>, Problem>,
) -> Result<(RunKey, bool), Problem> {
    let message_id = problem::parse_message_id(path)?;
    let diagnostics = wants_diagnostics(query?.0.diagnostics.as_deref())?;
    let run = caller.app.storage.run(caller.user_id, message_id).await?;
    Ok((run.ok_or_else(not_found)?.key, diagnostics))
}

/// Returns true if the final payload includes diagnostics: `?diagnostics=true`.
fn wants_diagnostics(value: Option<&str>) -> Result<bool, Problem> {
    match value {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(bad_request("diagnostics is either true or false.")),
    }
}

/// Streams the events of a run after a position.
pub async fn resume(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    query: Result<QueryParameters<RunStreamQuery>, Problem>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let run = problem::parse_message_id(path)?;
    let QueryParameters(query) = query?;
    let after = event_stream::parse_position(query.after.as_deref(), &headers)?.unwrap_or_default();
    stream(
        caller,
        run,
        after,
        wants_diagnostics(query.diagnostics.as_deref())?,
    )
    .await
}

async fn stream(
    caller: Caller,
    run: MessageId,
    after: Position,
    diagnostics: bool,
) -> Result<Response, Problem> {
    let Caller { app, user_id, access } = &caller;
    let user_id = *user_id;
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
    // A reader that reconnects may have seen some of the events from before the run was continued.
    let after = if after == Position(0) {
        Position(first_position.0.saturating_sub(1))
    } else {
        after
    };
    if last_position.is_some_and(|last| after >= last) {
        // An EventSource that reconnects after the end. By its standard, this status tells it not to
        // reconnect.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    // Events that the reader has seen are read again, to compute the markers that follow.
    let begin = Position(first_position.0.saturating_sub(1)).min(after);
    let follower = Follower::new(
        app.hub.clone(),
        app.storage.clone(),
        Topic::Run(user_id, run),
        begin,
    );
    let (app, access) = (app.clone(), access.clone());
    let one_run = RunProjection {
        caller,
        run: key,
        after,
        markers: ToolMarkers::default(),
        diagnostics,
    };
    Ok(event_stream::respond(follower, &app, access, one_run))
}

pub(super) fn parse_intent_id(headers: &HeaderMap) -> Result<IntentId, Problem> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else {
        return Ok(IntentId::new());
    };
    let parsed = value
        .to_str()
        .ok()
        .and_then(|value| value.trim_matches('"').parse().ok());
    parsed.ok_or_else(|| bad_request("The header Idempotency-Key must be a UUID."))
}

/// Projects the log to the events of one run. The last one includes the whole answer.
struct RunProjection {
    caller: Caller,
    run: RunKey,
    /// The position of the last event that the reader has seen.
    after: Position,
    markers: ToolMarkers,
    /// If true, the last event includes the diagnostics.
    diagnostics: bool,
}

impl RunProjection {
    /// Returns true if this is the run's last event. A final event is not the last one if the run was
    /// continued after it. An unreadable event may be the last one.
    async fn is_last(&self, logged: &LoggedEvent) -> bool {
        let is_damaged = logged.event.body == EventBody::Damaged;
        if !is_damaged && logged.event.body.terminal_status().is_none() {
            return false;
        }
        let storage = &self.caller.app.storage;
        match storage.run(self.run.user_id, self.run.message_id).await {
            Ok(Some(run)) => run.last_position == Some(logged.event.position),
            _ => !is_damaged,
        }
    }
}

impl Projection for RunProjection {
    async fn frames(&mut self, logged: &LoggedEvent) -> (Vec<String>, bool) {
        let frames = self.frames_with_markers(logged).await;
        if logged.event.position <= self.after {
            return (Vec::new(), false);
        }
        let mut is_last = false;
        let mut data = Vec::with_capacity(frames.len());
        for frame in frames {
            data.push(match frame {
                Frame::Logged => {
                    let (json, last) = self.logged(logged).await;
                    is_last = last;
                    json
                }
                Frame::Delta { offset, text } => text_delta_json(&logged.event, offset, text),
                Frame::Inserted(addition) => to_json(&InsertedEvent::new(&logged.event, &addition)),
            });
        }
        (data, is_last)
    }

    async fn is_over(&mut self) -> bool {
        // The deletion of a conversation also deletes its runs: no more events will come.
        matches!(
            self.caller
                .app
                .storage
                .run(self.run.user_id, self.run.message_id)
                .await,
            Ok(None)
        )
    }
}

impl RunProjection {
    /// Returns the frames of an event and the markers inserted with it.
    async fn frames_with_markers(&mut self, logged: &LoggedEvent) -> Vec<Frame> {
        let body = &logged.event.body;
        if self.markers.is_behind(body) {
            let storage = &self.caller.app.storage;
            let found = storage.message(self.run.user_id, self.run.message_id).await;
            if let Ok(Some((_, message))) = found
                && let Some(answer) = message.assistant()
            {
                self.markers.catch_up(answer, body);
            }
        }
        self.markers.frames(body)
    }

    /// Returns an event as it was logged, with the answer if it is the last one.
    async fn logged(&self, logged: &LoggedEvent) -> (String, bool) {
        if !self.is_last(logged).await {
            return (logged.json.clone(), false);
        }
        let with_payload = async {
            let RunKey {
                user_id,
                conversation_id,
                message_id,
            } = self.run;
            let storage = &self.caller.app.storage;
            let (_, message) = storage.message(user_id, message_id).await.ok()??;
            let answer = RunResult::load(&self.caller, conversation_id, &message, self.diagnostics).await;
            let last = FinalEvent {
                event: &logged.event,
                payload: answer.ok()??,
            };
            serde_json::to_string(&last).ok()
        };
        (with_payload.await.unwrap_or_else(|| logged.json.clone()), true)
    }
}

/// Returns the JSON of a text event with only a part of its text.
fn text_delta_json(event: &Event, offset: usize, text: String) -> String {
    let mut event = event.clone();
    if let EventBody::TextDelta {
        offset: old_offset,
        text: old_text,
        ..
    } = &mut event.body
    {
        (*old_offset, *old_text) = (offset, text);
    }
    to_json(&event)
}

/// Serializes an event. The types that are written here always serialize.
fn to_json(event: &impl Serialize) -> String {
    serde_json::to_string(event).unwrap_or_default()
}
