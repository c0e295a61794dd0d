//! Unknown fields of chat completions.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;

use crate::unreadable::raw_excerpt;

/// Fields of a delta without content.
const IGNORED_DELTA_FIELDS: [&str; 19] = [
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
    "channel",
    "phase",
    "weight",
    "metadata",
    "model",
    "created",
    "tool_call_id",
];

/// Fields of a delta that are read. One that can't be read is named only if the delta has no other content.
const KNOWN_DELTA_FIELDS: [&str; 14] = [
    "content",
    "reasoning_content",
    "reasoning",
    "reasoning_text",
    "thinking",
    "reasoning_details",
    "thinking_blocks",
    "refusal",
    "tool_calls",
    "function_call",
    "images",
    "audio",
    "annotations",
    "extra_content",
];

/// Fields of a chunk without choices that would have the content of an answer. Others have data about it.
const CHUNK_CONTENT_FIELDS: [&str; 10] = [
    "output",
    "output_text",
    "generated_text",
    "content",
    "text",
    "message",
    "delta",
    "response",
    "completion",
    "answer",
];

/// Returns the fields with content of a chunk without choices.
pub fn unknown_chunk_fields(data: &str) -> Vec<(String, String)> {
    let Ok(Value::Object(chunk)) = serde_json::from_str(data) else {
        return Vec::new();
    };
    let fields = chunk
        .iter()
        .filter(|(name, value)| CHUNK_CONTENT_FIELDS.contains(&name.as_str()) && !is_empty_value(value));
    fields.map(excerpt).collect()
}

/// Returns the unknown fields with content of a chunk whose delta has known content too.
pub fn fields_beside_content(data: &str) -> Vec<(String, String)> {
    // Nearly all chunks end here, and are not parsed a second time.
    if has_known_fields_only(data) {
        return Vec::new();
    }
    let mut fields = unknown_fields(data);
    fields.retain(|(name, _)| !KNOWN_DELTA_FIELDS.contains(&name.as_str()));
    fields
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
        .filter(|(name, value)| {
            let name = name.as_str();
            // Numbers are about the text, such as ids of tokens, unless they are in its place.
            let is_number = value.is_number() || value.is_boolean();
            let is_about = is_number && !KNOWN_DELTA_FIELDS.contains(&name);
            !IGNORED_DELTA_FIELDS.contains(&name) && !is_about && !is_empty_value(value)
        })
        .map(excerpt)
        .collect()
}

fn excerpt((name, value): (&String, &Value)) -> (String, String) {
    (name.clone(), raw_excerpt(&value.to_string()))
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

/// Returns true if no delta of a chunk has a field with a value that is neither read nor ignored. It reads the names alone.
fn has_known_fields_only(data: &str) -> bool {
    #[derive(Deserialize)]
    struct Chunk<'a> {
        #[serde(borrow)]
        choices: Vec<Choice<'a>>,
    }
    #[derive(Deserialize)]
    struct Choice<'a> {
        #[serde(borrow)]
        delta: Option<Fields<'a>>,
        #[serde(borrow)]
        message: Option<Fields<'a>>,
    }
    /// Which fields there are, and whether they are null.
    type Fields<'a> = BTreeMap<FieldName<'a>, Option<IgnoredAny>>;

    let Ok(chunk) = serde_json::from_str::<Chunk>(data) else {
        return false;
    };
    let deltas = chunk
        .choices
        .iter()
        .flat_map(|choice| [&choice.delta, &choice.message]);
    let mut fields = deltas.flatten().flatten();
    fields.all(|(FieldName(name), value)| {
        let name = &**name;
        value.is_none() || KNOWN_DELTA_FIELDS.contains(&name) || IGNORED_DELTA_FIELDS.contains(&name)
    })
}

/// The name of a field, which is copied only if it has escapes.
#[derive(PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct FieldName<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_alone_say_whether_a_chunk_has_unknown_fields() {
        for (chunk, names) in [
            (
                r#"{"choices":[{"delta":{"content":"a","role":"assistant","refusal":null,"odd":null}}]}"#,
                &[][..],
            ),
            (
                r#"{"choices":[{"delta":{"content":"a","blorp":"b"}}]}"#,
                &["blorp"],
            ),
            (
                r#"{"choices":[{"delta":{"content":"a","bl\u006frp":"b"}}]}"#,
                &["blorp"],
            ),
            (r#"{"choices":[{"delta":{"conten\u0074":"a"}}]}"#, &[]),
            (
                r#"{"choices":[{"delta":{"blorp":"b"},"delta":{"content":"a"}}]}"#,
                &[],
            ),
            (
                r#"{"choices":[{"delta":{"blorp":null,"blorp":"b"}}]}"#,
                &["blorp"],
            ),
            (r#"{"choices":[{"delta":{"blorp":"b","blorp":null}}]}"#, &[]),
            (
                r#"{"choices":[{"delta":{"content":"a"},"message":{"blorp":"b"}}]}"#,
                &[],
            ),
            (
                r#"{"choices":[{"delta":null,"message":{"content":"a","blorp":["b"]}}]}"#,
                &["blorp"],
            ),
            (
                r#"{"choices":[{"delta":"a"},{"delta":{"blorp":"b"}}]}"#,
                &["blorp"],
            ),
            (r#"{"choices":[{"delta":{"content":"a","blorp":7}}]}"#, &[]),
            (r#"{"choices":[{"finish_reason":"stop"}]}"#, &[]),
            (r#"{"choices":null}"#, &[]),
            ("7", &[]),
        ] {
            let mut slowly = unknown_fields(chunk);
            slowly.retain(|(name, _)| !KNOWN_DELTA_FIELDS.contains(&name.as_str()));
            let found = fields_beside_content(chunk);
            assert_eq!(found, slowly, "{chunk}");
            let found: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(found, names, "{chunk}");
        }
    }
}
