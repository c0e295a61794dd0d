//! What is written down of a call of a model: without secrets, and within a limit.
//!
//! What a model or a tool server made is kept as the text that it is: it may be nested deeper than a `serde_json::Value`
//! that is read can be.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::secrets::Secrets;
use crate::{
    model::RequestPreview,
    protocol::{EventBody, RawJson, RunError, RunStatus, Timestamp},
};

/// What was sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestRecord {
    pub started_at: Timestamp,
    /// As `endpoint/model`.
    pub model: String,
    #[serde(default)]
    pub purpose: Purpose,
    /// The address that it was sent to, without what is secret in it.
    pub address: String,
    /// How many calls of the run may ask for tools.
    pub max_iterations: usize,
    /// All that was sent besides the messages and the tools.
    pub parameters: Map<String, Value>,
    /// The tools that were offered; nothing if they are those of the call before.
    pub tools: Option<Vec<RawJson>>,
    /// Whether all messages of the call before came first.
    pub goes_on: bool,
    /// The messages. `{"omitted": N}` stands where N of them were too many to keep.
    pub messages: Vec<Value>,
}

/// What a call is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// It gives the answer, or a part of it.
    #[default]
    Answer,
    /// It gives what stands for the conversation's beginning, where there is no room for that.
    Summary,
}

/// What has come of it so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResponseRecord {
    pub status: RunStatus,
    /// From the call to the first thing that the model said.
    pub first_token_ms: Option<u64>,
    /// From the call to its end.
    pub duration_ms: Option<u64>,
    /// Why the model stopped, in our words.
    pub finish_reason: Option<String>,
    pub usage: Option<TokenUsage>,
    /// In US dollars.
    pub cost: Option<f64>,
    pub raw: RawAnswer,
    /// How often it was made again.
    pub retries: usize,
    /// What went wrong, each time.
    pub failures: Vec<CallFailure>,
    pub events: Vec<TimelineEntry>,
}

/// Tokens, as the model server counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
}

/// What the model said, before anything was taken out of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawAnswer {
    pub thinking: String,
    pub text: String,
    pub tool_calls: Vec<RawCall>,
    /// What could not be taken in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<RawPiece>,
    /// There was more than is kept.
    pub cut: bool,
}

/// A tool call as the model asked for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawCall {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

/// A piece of an answer that Parlor could not take in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawPiece {
    /// What it is, or why it was left out.
    pub what: String,
    /// The beginning of it, as it came.
    pub raw: String,
}

/// A call that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFailure {
    pub at: Timestamp,
    pub error: RunError,
}

/// What happened, and when. Several of a kind in a row are one entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineEntry {
    pub at: Timestamp,
    #[serde(rename = "type")]
    pub kind: String,
    /// Which tool, or what it is doing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    pub count: usize,
    /// When the last of them happened.
    pub until: Timestamp,
}

impl RequestRecord {
    /// What a call sends, in about `limit` bytes: what comes last is what is kept, and the system prompt. `known` are the
    /// messages and the tools of the call before.
    pub fn from_preview(
        sent: RequestPreview,
        known: &mut SentBefore,
        secrets: &Secrets,
        limit: usize,
    ) -> Self {
        let RequestPreview { address, mut body } = sent;
        let mut take = |name: &str| match body.remove(name) {
            Some(Value::Array(list)) => list,
            _ => Vec::new(),
        };
        let (messages, tools) = (take("messages"), take("tools"));
        body.remove("model");
        let mut parameters = Value::Object(body);
        redact_value(&mut parameters, secrets);
        let parameters = match parameters {
            Value::Object(parameters) => parameters,
            _ => Map::new(),
        };
        let goes_on = known.is_prefix_of(&messages);
        let new = if goes_on { known.messages.len() } else { 0 };
        let told = fingerprint(&tools);
        let same_tools = known.tools == Some(told);
        let request = Self {
            started_at: Timestamp(0),
            model: String::new(),
            purpose: Purpose::default(),
            address,
            max_iterations: 0,
            parameters,
            tools: (!same_tools).then(|| truncate_tools(&tools, secrets, limit)),
            goes_on,
            messages: truncate_messages(&messages[new..], secrets, limit),
        };
        known.messages = messages.iter().map(fingerprint).collect();
        known.tools = Some(told);
        request
    }
}

/// What the call before has sent.
#[derive(Clone, Debug, Default)]
pub struct SentBefore {
    /// A hash of each message.
    messages: Vec<u64>,
    /// And one of all tools.
    tools: Option<u64>,
}

impl SentBefore {
    /// Whether `messages` begin with all that are known.
    fn is_prefix_of(&self, messages: &[Value]) -> bool {
        !self.messages.is_empty()
            && self.messages.len() <= messages.len()
            && self
                .messages
                .iter()
                .zip(messages)
                .all(|(known, message)| *known == fingerprint(message))
    }
}

fn fingerprint(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn truncate_tools(tools: &[Value], secrets: &Secrets, limit: usize) -> Vec<RawJson> {
    let whole: Vec<String> = tools
        .iter()
        .map(|tool| secrets.redact(&tool.to_string()))
        .collect();
    let fits = whole.iter().map(String::len).sum::<usize>() <= limit;
    let tools = tools.iter().zip(&whole).map(|(tool, whole)| {
        if fits {
            return RawJson::parse_or_quote(whole);
        }
        let name = &tool["function"]["name"];
        RawJson::parse_or_quote(&json!({ "type": tool["type"], "function": { "name": name } }).to_string())
    });
    tools.collect()
}

/// The first message if it is the system prompt, and as many of the last as there is room for.
fn truncate_messages(messages: &[Value], secrets: &Secrets, limit: usize) -> Vec<Value> {
    let is_system = |message: &Value| message["role"] == "system";
    let (head, rest) = match messages.split_first() {
        Some((first, rest)) if is_system(first) => (Some(truncate_message(first, secrets, limit)), rest),
        _ => (None, messages),
    };
    let mut room = limit.saturating_sub(head.as_ref().map_or(0, json_bytes));
    let mut tail = Vec::new();
    for message in rest.iter().rev() {
        let message = truncate_message(message, secrets, limit);
        let length = json_bytes(&message);
        // The last one is kept whatever there is room for: it is what was asked.
        if length > room && !tail.is_empty() {
            break;
        }
        room = room.saturating_sub(length);
        tail.push(message);
    }
    let omitted = rest.len() - tail.len();
    let omitted = (omitted > 0).then(|| json!({ "omitted": omitted }));
    head.into_iter()
        .chain(omitted)
        .chain(tail.into_iter().rev())
        .collect()
}

fn json_bytes(message: &Value) -> usize {
    message.to_string().len()
}

fn truncate_message(message: &Value, secrets: &Secrets, limit: usize) -> Value {
    let mut message = message.clone();
    redact_value(&mut message, secrets);
    truncate_value(&mut message, limit);
    message
}

/// Hides what is secret in every text of a value.
pub(super) fn redact_value(value: &mut Value, secrets: &Secrets) {
    for_each_text(value, &mut |text| *text = secrets.redact(text));
}

/// Cuts every text of a value.
fn truncate_value(value: &mut Value, limit: usize) {
    for_each_text(value, &mut |text| {
        if text.len() > limit {
            let missing = text.len() - limit;
            text.truncate(text.floor_char_boundary(limit));
            text.push_str(&format!("… ({missing} more bytes)"));
        }
    });
}

fn for_each_text(value: &mut Value, change: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(values) => values.iter_mut().for_each(|value| for_each_text(value, change)),
        Value::Object(fields) => fields.values_mut().for_each(|value| for_each_text(value, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl ResponseRecord {
    /// Of a call that has just been made.
    pub fn pending() -> Self {
        Self {
            status: RunStatus::Running,
            first_token_ms: None,
            duration_ms: None,
            finish_reason: None,
            usage: None,
            cost: None,
            raw: RawAnswer::default(),
            retries: 0,
            failures: Vec::new(),
            events: Vec::new(),
        }
    }

    /// As it may be written down: without secrets, in about `limit` bytes.
    pub fn truncated(&self, secrets: &Secrets, limit: usize) -> Self {
        let mut kept = self.clone();
        let RawAnswer {
            thinking,
            text,
            tool_calls,
            unread,
            cut,
        } = &mut kept.raw;
        let more = *cut;
        let mut room = limit;
        let mut keep = |text: &mut String| {
            let (kept, is_cut) = secrets.redact_truncated(text, room, more);
            room -= kept.len();
            *text = kept;
            *cut |= is_cut;
        };
        // The answer first: it is what one wants to see.
        keep(text);
        keep(thinking);
        for call in tool_calls {
            keep(&mut call.name);
            keep(&mut call.arguments);
            keep(&mut call.id);
        }
        for piece in unread {
            keep(&mut piece.what);
            keep(&mut piece.raw);
        }
        for CallFailure { error, .. } in &mut kept.failures {
            error.message = secrets.redact(&error.message);
            error.hint = secrets.redact(&error.hint);
        }
        for detail in kept.events.iter_mut().filter_map(|event| event.detail.as_mut()) {
            *detail = secrets.redact(detail);
        }
        kept
    }
}

/// The longest line that the timeline says of an event.
const MAX_DETAIL_BYTES: usize = 200;

/// Adds an event to a timeline, unless it has `most` entries already.
pub fn push_timeline_event(
    timeline: &mut Vec<TimelineEntry>,
    event: &EventBody,
    at: Timestamp,
    max_entries: usize,
) {
    let (kind, detail) = event_name(event);
    if let Some(last) = timeline
        .last_mut()
        .filter(|last| last.kind == kind && last.detail == detail)
    {
        last.count += 1;
        last.until = at;
    } else if timeline.len() < max_entries {
        timeline.push(TimelineEntry {
            at,
            kind: kind.into(),
            detail,
            count: 1,
            until: at,
        });
    }
}

/// The event's type as it is on the wire, and what tells it from others of its type.
fn event_name(event: &EventBody) -> (&'static str, Option<String>) {
    let short = |text: &str| {
        let mut text = text.to_owned();
        text.truncate(text.floor_char_boundary(MAX_DETAIL_BYTES));
        Some(text)
    };
    match event {
        EventBody::ConversationCreated { .. } => ("conversation_created", None),
        EventBody::ConversationRenamed { .. } => ("conversation_renamed", None),
        EventBody::ModelChosen { model } => ("model_chosen", short(model)),
        EventBody::ParametersChosen { .. } => ("parameters_chosen", None),
        EventBody::ConversationRead => ("conversation_read", None),
        EventBody::ConversationDeleted => ("conversation_deleted", None),
        EventBody::LeafSelected { .. } => ("leaf_selected", None),
        EventBody::UserMessageSaved { .. } => ("user_message_saved", None),
        EventBody::RunStarted { model, .. } => ("run_started", short(model)),
        EventBody::RunContinued { .. } => ("run_continued", None),
        EventBody::Status { message } => ("status", short(message)),
        EventBody::Thinking { .. } => ("thinking", None),
        EventBody::TextDelta { .. } => ("text_delta", None),
        EventBody::TextWasThinking { .. } => ("text_was_thinking", None),
        EventBody::ApprovalRequested(call) => ("approval_requested", short(&call.tool)),
        EventBody::ApprovalAnswered { allowed, .. } => (
            "approval_answered",
            short(if *allowed { "allowed" } else { "denied" }),
        ),
        EventBody::ToolStart { call, .. } => ("tool_start", short(&call.tool)),
        EventBody::ToolProgress { tool, .. } => ("tool_progress", short(tool)),
        EventBody::ToolComplete { tool, .. } => ("tool_complete", short(tool)),
        EventBody::Waiting { .. } => ("waiting", None),
        EventBody::ActionTaken { .. } => ("action_taken", None),
        EventBody::SettingsChanged => ("settings_changed", None),
        EventBody::LiteratureChanged { .. } => ("literature_changed", None),
        EventBody::PayloadJudged { verdict, .. } => ("payload_judged", short(verdict.as_str())),
        EventBody::PayloadMade { payload, .. } => ("payload_made", short(&payload.kind)),
        EventBody::SuggestedValues { .. } => ("suggested_values", None),
        EventBody::SuggestedActions { .. } => ("suggested_actions", None),
        EventBody::Sources { .. } => ("sources", None),
        EventBody::Usage(_) => ("usage", None),
        EventBody::Complete { .. } => ("complete", None),
        EventBody::Cancelled { .. } => ("cancelled", None),
        EventBody::Error { message, .. } => ("error", short(message)),
        EventBody::Empty => ("empty", None),
        EventBody::Damaged => ("damaged", None),
    }
}
