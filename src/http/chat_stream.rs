//! `POST /api/chat/stream`: a turn for clients without the page. The response streams the run that it starts
//! ([`run_stream`]).

use axum::{
    Json,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    interaction::parse_interaction,
    parameters::ParametersBody,
    problem::{Problem, bad_request},
    request::{JsonBody, parse_intent_id},
    run_stream,
};
use crate::app::{Caller, fingerprint, turns};
use parlor_protocol::{
    ApiError, AttachmentId, ConversationId, ErrorCode, MessageId, PageContext, Position, ProjectId,
    intent::{SendMessage, StartedRun},
};
use parlor_storage::{PageSize, StorageError};

/// A message to be answered.
// A message without files has a text that is not only white space.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend(
    "if" = { "properties": { "files": { "maxItems": 0 } } },
    "then" = { "properties": { "message": { "minLength": 1, "pattern": r"\S" } } }
))]
pub struct ChatRequest {
    /// The user's text.
    message: String,
    /// Ids of uploaded files (`POST /api/files`) of this conversation. With files, the text may be empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<AttachmentId>,
    /// The conversation, which is created if it does not exist. Without it, a new one is created.
    conversation_id: Option<ConversationId>,
    /// `endpoint/model`, or the model's id alone if exactly one endpoint lists it. Default: the conversation's model,
    /// else the default model. An unknown or ambiguous name is rejected (422, `unknown_model`).
    model: Option<String>,
    /// The id of the user's message that this one is another version of: it follows the same answer, and its branch
    /// is shown from then on. The other version is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replaces: Option<MessageId>,
    /// The project in which the conversation begins. Ignored in one that exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    project_id: Option<ProjectId>,
    /// Names of tools that the model must use before it answers this message. Unknown names are rejected (422,
    /// `unknown_tool`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    force_tools: Vec<String>,
    /// The model parameters of this conversation from now on; unchanged if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parameters: Option<ParametersBody>,
    /// The page and the items that the user has open.
    context: Option<PageContext>,
    /// The way in which the user sent it. Default: `text_input`.
    #[schemars(extend("type" = "string", "enum" = ["text_input", "value_selected", "action_executed"]))]
    interaction_type: Option<String>,
    /// With `action_executed`: a server action offered by the last answer.
    action: Option<String>,
    /// With `action_executed`: the data of the action, unchanged.
    data: Option<Value>,
    /// While a run is active in the conversation, the message waits in its queue and is sent when the run and the
    /// messages before it have ended: the response is 202. Without this, it is rejected (409, `run_active`).
    #[serde(default, skip_serializing_if = "is_false")]
    queue: bool,
    /// Includes diagnostics in the payload.
    // Not part of the request's fingerprint: the same request with another value is the same.
    #[serde(default, skip_serializing)]
    diagnostics: bool,
    /// Rejected: the server has the history.
    #[serde(skip_serializing)]
    #[schemars(skip)]
    conversation_history: Option<Value>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Saves the message, starts the run and streams it.
pub async fn start(
    caller: Caller,
    headers: HeaderMap,
    request: Result<JsonBody<ChatRequest>, Problem>,
) -> Result<Response, Problem> {
    let (started, diagnostics) = match start_turn(&caller, &headers, request).await? {
        TurnOutcome::Started(started, diagnostics) => (started, diagnostics),
        TurnOutcome::Queued(queued) => return Ok(queued.into_response()),
    };
    run_stream::stream(caller, started.assistant_message_id, Position(0), diagnostics).await
}

/// The result of a message.
pub enum TurnOutcome {
    /// The started run, and true if the diagnostics of the answer are requested.
    Started(StartedRun, bool),
    /// The message waits in the queue.
    Queued(QueuedTurn),
}

/// A message that waits for the end of the conversation's run.
#[derive(Serialize, JsonSchema)]
pub struct QueuedTurn {
    conversation_id: ConversationId,
    user_message_id: MessageId,
    /// The answer to come, and its run. It is found once the run has begun.
    message_id: MessageId,
    /// `queued`.
    status: QueuedStatus,
}

/// The state of a message that waits.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum QueuedStatus {
    Queued,
}

impl IntoResponse for QueuedTurn {
    fn into_response(self) -> Response {
        (StatusCode::ACCEPTED, Json(self)).into_response()
    }
}

/// Saves the message and starts the run, or queues the message.
pub async fn start_turn(
    caller: &Caller,
    headers: &HeaderMap,
    request: Result<JsonBody<ChatRequest>, Problem>,
) -> Result<TurnOutcome, Problem> {
    let JsonBody(mut request) = request?;
    if request.conversation_history.is_some() {
        return Err(bad_request(
            "conversation_history is not taken: Parlor has the history of a conversation. Name it with \
             conversation_id.",
        ));
    }
    let interaction = parse_interaction(
        request.interaction_type.as_deref(),
        request.action.as_deref(),
        request.data.as_ref(),
    )?;
    request.context = caller.app.pages.normalize(request.context)?;
    let fingerprint = fingerprint(&request)?;
    let intent = SendMessage {
        intent_id: parse_intent_id(headers)?,
        conversation_id: request.conversation_id.unwrap_or_default(),
        user_message_id: MessageId::new(),
        text: request.message,
        files: request.files,
        model: request.model,
        replaces: request.replaces,
        temporary: false,
        project_id: request.project_id,
        force_tools: request.force_tools,
        parameters: request.parameters.map(ParametersBody::into_raw),
        context: request.context,
        interaction,
    };
    if !request.queue {
        let started = turns::send(caller, intent, fingerprint).await?;
        return Ok(TurnOutcome::Started(started, request.diagnostics));
    }
    let started = turns::send_or_queue(caller, intent, fingerprint).await?;
    // In this order: a message leaves the queue when its run begins.
    if is_queued(caller, &started).await? {
        return Ok(TurnOutcome::Queued(QueuedTurn {
            conversation_id: started.conversation_id,
            user_message_id: started.user_message_id,
            message_id: started.assistant_message_id,
            status: QueuedStatus::Queued,
        }));
    }
    let run = started.assistant_message_id;
    match caller.app.storage.run(caller.user_id, run).await? {
        Some(_) => Ok(TurnOutcome::Started(started, request.diagnostics)),
        // A repeated request whose message was removed since then.
        None => Err(ApiError::new(
            ErrorCode::NotFound,
            "This message was removed from the queue before it was sent. To send it, repeat it with another \
             Idempotency-Key.",
        )
        .into()),
    }
}

/// Returns true if the message of a run waits in its conversation's queue.
async fn is_queued(caller: &Caller, started: &StartedRun) -> Result<bool, StorageError> {
    let (storage, user_id) = (&caller.app.storage, caller.user_id);
    let smallest = PageSize {
        messages: 1,
        bytes: 1,
    };
    let transcript = storage
        .transcript(user_id, started.conversation_id, smallest, None)
        .await?;
    let queue = transcript.map(|found| found.queue.messages).unwrap_or_default();
    Ok(queue.iter().any(|queued| queued.id == started.user_message_id))
}
