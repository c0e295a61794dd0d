//! Records of model calls without secrets, in a limited size.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Value, json};

use super::record::{CallFailure, Purpose, RawAnswer, RequestRecord, ResponseRecord};
use parlor_base::secrets::Secrets;
use parlor_model::RequestPreview;
use parlor_protocol::{RawJson, Timestamp, text::truncate_counted};

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
            url,
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
            address: url,
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
    /// Returns a copy to be stored: without secrets, in about `limit` bytes.
    pub fn truncated(&self, secrets: &Secrets, limit: usize) -> Self {
        let mut kept = self.clone();
        let RawAnswer {
            thinking,
            text,
            tool_calls,
            unreadable,
            left_out,
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
        for content in unreadable.iter_mut().chain(left_out) {
            keep(&mut content.what);
            keep(&mut content.raw);
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
