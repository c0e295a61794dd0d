//! The content of results, read part by part.

use rmcp::model::{ContentBlock, ResourceContents};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::quoted;

/// The fields of a part that Parlor uses. Others, such as annotations, icons and metadata, are not needed to read it.
const USED_FIELDS: [&str; 11] = [
    "type",
    "text",
    "data",
    "mimeType",
    "resource",
    "uri",
    "name",
    "title",
    "description",
    "blob",
    "size",
];

/// The fields without which a part can't be read.
const NEEDED_FIELDS: [&str; 8] = [
    "type", "text", "data", "mimeType", "resource", "uri", "name", "blob",
];

/// Rewrites the result of a call.
pub fn rewrite_call_result(result: &mut Map<String, Value>) {
    let parts = match result.remove("content") {
        Some(Value::Array(parts)) => parts,
        None | Some(Value::Null) => Vec::new(),
        Some(part) => vec![part],
    };
    let parts: Vec<Value> = parts.into_iter().map(read_part).collect();
    let is_error = match result.remove("isError") {
        Some(Value::Bool(is_error)) => is_error,
        Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
        Some(Value::Number(number)) => number.as_i64() != Some(0),
        _ => false,
    };
    result.retain(|field, _| field == "structuredContent");
    result.insert("content".into(), parts.into());
    result.insert("isError".into(), is_error.into());
}

/// Rewrites the contents of a resource.
pub fn rewrite_contents(contents: &mut Value) {
    let parts = match contents.take() {
        Value::Array(parts) => parts,
        Value::Null => Vec::new(),
        part => vec![part],
    };
    *contents = parts.into_iter().map(read_contents).collect();
}

/// Returns a part in a form that rmcp reads. One that can't be read becomes a text that quotes it.
fn read_part(part: Value) -> Value {
    let part = match part {
        Value::Object(mut fields) => {
            complete_part(&mut fields);
            reduced(fields, |part| ContentBlock::deserialize(part).is_ok())
        }
        other => Err(other),
    };
    part.unwrap_or_else(|part| json!({ "type": "text", "text": describe(&part) }))
}

/// Completes a part with fields that its type needs and that follow from others.
fn complete_part(fields: &mut Map<String, Value>) {
    complete_data(fields);
    if let Some(resource) = fields.get_mut("resource") {
        *resource = read_contents(resource.take());
    }
    match fields.get("type").and_then(Value::as_str) {
        Some("text") => make_text(fields),
        Some("resource_link") => {
            let uri = fields.get("uri").cloned().unwrap_or_default();
            fill(fields, "name", uri);
        }
        Some("resource") => {}
        // Whatever has data of a type is a file.
        _ if fields.get("data").is_some_and(Value::is_string) => {
            let has_type = fields.get("mimeType").is_some_and(Value::is_string);
            match fields.get("type").and_then(Value::as_str) {
                Some("image" | "audio") => fill(fields, "mimeType", "".into()),
                _ if has_type => {
                    fields.insert("type".into(), "image".into());
                }
                _ => {}
            }
        }
        _ => {}
    }
}

/// The names of the field with the type of data in other protocols.
const TYPE_FIELDS: [&str; 4] = ["mimeType", "mime_type", "media_type", "mimetype"];

/// Brings data into its fields: that of a data URL, and that of Anthropic's form `{"source": {"media_type": …, "data": …}}`.
fn complete_data(fields: &mut Map<String, Value>) {
    if let Some(Value::Object(source)) = fields.get("source").cloned()
        && source.get("data").is_some_and(Value::is_string)
    {
        fields.extend(source.into_iter().filter(|(name, _)| name != "type"));
    }
    let named = TYPE_FIELDS
        .iter()
        .find_map(|name| fields.get(*name).filter(|value| value.is_string()).cloned());
    let data = fields.get("data").and_then(Value::as_str).unwrap_or_default();
    let url = data
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"));
    let of_url = url.map(|(media_type, data)| (Value::from(media_type), Value::from(data)));
    match (of_url, named) {
        (Some((media_type, data)), named) => {
            fields.insert("data".into(), data);
            fields.insert("mimeType".into(), named.unwrap_or(media_type));
        }
        (None, Some(media_type)) if fields.contains_key("data") => {
            fields.insert("mimeType".into(), media_type);
        }
        (None, _) => {}
    }
}

/// Returns the contents of a resource in a form that rmcp reads.
fn read_contents(contents: Value) -> Value {
    let contents = match contents {
        Value::Object(mut fields) => {
            fill(&mut fields, "uri", "".into());
            if !fields.get("mimeType").is_some_and(Value::is_string) {
                fields.remove("mimeType");
            }
            let has_text = fields
                .get("text")
                .is_some_and(|text| !text.is_null() && text != "");
            if fields.contains_key("blob") && !has_text {
                // It would hide the blob.
                fields.remove("text");
            } else if has_text {
                make_text(&mut fields);
            }
            reduced(fields, |contents| ResourceContents::deserialize(contents).is_ok())
        }
        other => Err(other),
    };
    contents.unwrap_or_else(|contents| json!({ "uri": "", "text": describe(&contents) }))
}

/// Sets a field that is not a text.
fn fill(fields: &mut Map<String, Value>, field: &str, value: Value) {
    if !fields.get(field).is_some_and(Value::is_string) {
        fields.insert(field.into(), value);
    }
}

/// Makes the field `text` a text, if it is another value.
fn make_text(fields: &mut Map<String, Value>) {
    let text = match fields.get("text") {
        Some(Value::String(_)) | None => return,
        Some(Value::Null) => String::new(),
        Some(other) => quoted(other),
    };
    fields.insert("text".into(), text.into());
}

/// Returns an object with as many of the used fields as can be read.
fn reduced(mut fields: Map<String, Value>, is_readable: fn(&Value) -> bool) -> Result<Value, Value> {
    let whole = Value::Object(fields.clone());
    for used in [&USED_FIELDS[..], &NEEDED_FIELDS] {
        fields.retain(|field, _| used.contains(&field.as_str()));
        let part = Value::Object(fields);
        if is_readable(&part) {
            return Ok(part);
        }
        let Value::Object(same) = part else { break };
        fields = same;
    }
    Err(whole)
}

/// Returns the text in place of a part that can't be read: its own text if it has one, or its JSON.
fn describe(part: &Value) -> String {
    if let Some(text) = part.as_str().or_else(|| part.get("text")?.as_str()) {
        return text.to_owned();
    }
    match part.get("type").and_then(Value::as_str) {
        Some(kind) => format!(
            "[content of the type “{kind}”, which Parlor can't show: {}]",
            quoted(part)
        ),
        None => format!("[content without a type: {}]", quoted(part)),
    }
}
