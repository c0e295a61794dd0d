//! Unknown fields of chat completions.

use serde_json::Value;

use crate::providers::unreadable::raw_excerpt;

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
