//! Responses that are not chat completions: other protocols, and unknown fields.

use serde_json::Value;

use crate::text::truncate_counted;

/// The maximum number of bytes kept of an unreadable piece.
const MAX_RAW_BYTES: usize = 2000;

/// Fields of a delta without content.
const IGNORED_DELTA_FIELDS: [&str; 12] = [
    "role",
    "name",
    "id",
    "type",
    "index",
    "object",
    "prefix",
    "logprobs",
    "token_ids",
    "stop_reason",
    "provider_specific_fields",
    "obfuscation",
];

/// Returns the protocol of an event or an answer, if it is a known one other than OpenAI's chat completions.
pub fn detect_protocol(json: &Value) -> Option<&'static str> {
    const COHERE: [&str; 5] = ["message-", "content-", "tool-call-", "tool-plan-", "citation-"];
    const ANTHROPIC: [&str; 2] = ["message_", "content_block_"];
    let has = |name: &str| json.get(name).is_some();
    let kind = json.get("type").and_then(Value::as_str).unwrap_or_default();
    let begins = |names: &[&str]| names.iter().any(|name| kind.starts_with(name));
    if begins(&COHERE) || has("event_type") || has("generation_id") || is_cohere_message(json) {
        Some("Cohere's own")
    } else if begins(&ANTHROPIC) || kind == "message" {
        Some("Anthropic's Messages")
    } else if kind.starts_with("response.") || json.get("object").is_some_and(|object| object == "response") {
        Some("OpenAI's Responses")
    } else if has("candidates") {
        Some("Google's generateContent")
    } else if has("done") && (has("message") || has("response")) {
        Some("Ollama's own")
    } else {
        None
    }
}

/// Returns true for a whole answer of Cohere's API.
fn is_cohere_message(json: &Value) -> bool {
    let content = json.get("message").and_then(|message| message.get("content"));
    json.get("finish_reason").is_some() && content.is_some_and(Value::is_array)
}

/// Returns the unknown fields with content, for a chunk without any known content.
pub fn unknown_fields(data: &str) -> Vec<(String, String)> {
    let Ok(chunk) = serde_json::from_str::<Value>(data) else {
        return Vec::new();
    };
    let choices = chunk
        .get("choices")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let is_there = |value: &&Value| !value.is_null();
    let deltas = choices.filter_map(|choice| {
        choice
            .get("delta")
            .filter(is_there)
            .or_else(|| choice.get("message"))
    });
    let fields = deltas.filter_map(Value::as_object).flatten();
    fields
        .filter(|(name, value)| !IGNORED_DELTA_FIELDS.contains(&name.as_str()) && !is_empty_value(value))
        .map(|(name, value)| (name.clone(), raw_excerpt(&value.to_string())))
        .collect()
}

fn is_empty_value(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.iter().all(is_empty_value),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// Truncates an unreadable piece for the diagnostics.
pub fn raw_excerpt(raw: &str) -> String {
    truncate_counted(raw, MAX_RAW_BYTES)
}
