//! The stored record of a model call: without secrets, and limited in size.
//!
//! Values from a model or a tool server are kept as text, because they may be nested deeper than a parsed
//! `serde_json::Value` can be.

use std::hash::{DefaultHasher, Hash, Hasher};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::timeline::TimelineEntry;
use crate::{
    model::{RequestPreview, Usage},
    protocol::{RawJson, RunError, RunStatus, Timestamp, text::truncate_counted},
    secrets::Secrets,
};

/// The request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestRecord {
    pub started_at: Timestamp,
    /// The model's id, `endpoint/model`.
    pub model: String,
    #[serde(default)]
    pub purpose: Purpose,
    /// The address of the request, without secrets.
    pub address: String,
    /// The number of calls of the run that may request tools.
    pub max_iterations: usize,
    /// All parameters besides the messages and the tools, in the server's form.
    pub parameters: Map<String, Value>,
    /// The maximum length of the answer in tokens, if it was sent.
    #[serde(default)]
    pub max_tokens: Option<u64>,
    /// The temperature, if it was sent.
    #[serde(default)]
    pub temperature: Option<f64>,
    /// The offered tools; `None` if they equal those of the previous call.
    pub tools: Option<Vec<RawJson>>,
    /// The messages follow all messages of the previous call.
    pub goes_on: bool,
    /// The messages. `{"omitted": N}` replaces N messages that exceeded the limit.
    pub messages: Vec<Value>,
}

/// The purpose of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// It generates the answer, or a part of it.
    #[default]
    Answer,
    /// It generates the summary that replaces the beginning of a long conversation.
    Summary,
    /// It generates the title of the conversation.
    Title,
}

/// The response so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResponseRecord {
    pub status: RunStatus,
    /// From the start of the call to the model's first output.
    pub first_token_ms: Option<u64>,
    /// From the start of the call to its end.
    pub duration_ms: Option<u64>,
    /// The finish reason, in Parlor's terms.
    pub finish_reason: Option<String>,
    pub usage: Option<TokenUsage>,
    /// In US dollars.
    pub cost: Option<f64>,
    pub raw: RawAnswer,
    /// The number of retries.
    pub retries: usize,
    /// The error of each failed attempt.
    pub failures: Vec<CallFailure>,
    pub events: Vec<TimelineEntry>,
}

/// Token counts as reported by the model server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Tokens")]
pub struct TokenUsage {
    /// The whole input, cached or not.
    pub input_tokens: u64,
    /// The whole output, thinking included.
    pub output_tokens: u64,
    /// The part of the input that was read from the server's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_input_tokens: u64,
    /// The part of the input that was written to the server's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// The part of the output that is thinking.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub thinking_tokens: u64,
    /// The part of the input that is images.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub image_input_tokens: u64,
    /// The part of the output that is images.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub image_output_tokens: u64,
}

/// Returns true for a count that is not worth a field.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl From<&Usage> for TokenUsage {
    fn from(usage: &Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cached_input_tokens: usage.cached_input_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            thinking_tokens: usage.thinking_tokens,
            image_input_tokens: usage.image_input_tokens,
            image_output_tokens: usage.image_output_tokens,
        }
    }
}

/// The model's raw output, before any filtering.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RawResponse")]
pub struct RawAnswer {
    pub thinking: String,
    pub text: String,
    pub tool_calls: Vec<RawCall>,
    /// The unreadable pieces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<RawPiece>,
    /// The output exceeded the limit and was truncated.
    pub cut: bool,
}

/// A tool call as requested by the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RawCall {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

/// A piece of an answer that Parlor could not read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RawPiece {
    /// The kind of content, or the reason for leaving it out.
    pub what: String,
    /// The beginning of the raw text.
    pub raw: String,
}

/// A call that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallFailure {
    pub at: Timestamp,
    pub error: RunError,
}

impl RequestRecord {
    /// Creates the record of a request in about `limit` bytes. The system prompt and the newest messages are
    /// kept. `known` has the messages and the tools of the previous call.
    pub fn from_preview(
        sent: RequestPreview,
        known: &mut SentBefore,
        secrets: &Secrets,
        limit: usize,
    ) -> Self {
        let RequestPreview {
            address,
            mut body,
            conversation_fields,
            messages,
            tools,
            max_tokens,
            temperature,
        } = sent;
        body.retain(|name, _| !conversation_fields.contains(&name.as_str()));
        let mut parameters = Value::Object(body);
        redact_value(&mut parameters, secrets);
        let parameters = match parameters {
            Value::Object(parameters) => parameters,
            _ => Map::new(),
        };
        let goes_on = known.is_prefix_of(&messages);
        let new = if goes_on { known.messages.len() } else { 0 };
        let tools_hash = fingerprint(&tools);
        let same_tools = known.tools == Some(tools_hash);
        let request = Self {
            started_at: Timestamp(0),
            model: String::new(),
            purpose: Purpose::default(),
            address,
            max_iterations: 0,
            parameters,
            max_tokens,
            temperature,
            tools: (!same_tools).then(|| truncate_tools(&tools, secrets, limit)),
            goes_on,
            messages: truncate_messages(&messages[new..], secrets, limit),
        };
        known.messages = messages.iter().map(fingerprint).collect();
        known.tools = Some(tools_hash);
        request
    }
}

/// The content of the previous request.
#[derive(Clone, Debug, Default)]
pub struct SentBefore {
    /// A hash of each message.
    messages: Vec<u64>,
    /// A hash of all tools.
    tools: Option<u64>,
}

impl SentBefore {
    /// Returns true if `messages` begin with all known ones.
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

/// Keeps the system prompt and as many of the newest messages as fit.
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
        // The last one is always kept: it is the question.
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

/// Redacts the secrets in every text of a value.
pub(super) fn redact_value(value: &mut Value, secrets: &Secrets) {
    for_each_text(value, &mut |text| *text = secrets.redact(text));
}

/// Truncates every text of a value.
fn truncate_value(value: &mut Value, limit: usize) {
    for_each_text(value, &mut |text| {
        *text = truncate_counted(text, limit);
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
    /// Creates the response of a call that has just started.
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

    /// Returns a copy to be stored: without secrets, in about `limit` bytes.
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
        // The answer first, because it is the most useful part.
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
