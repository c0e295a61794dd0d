//! A text that the model writes with the person, version by version.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::PayloadConfig;
use crate::tools::schema;

/// How many versions are kept together: the newest.
const VERSIONS: usize = 20;

/// A text of its own, or a new version of one.
#[derive(JsonSchema, Deserialize)]
#[expect(dead_code, reason = "some of it stands for its schema")]
struct Written {
    title: Option<String>,
    /// All of it, as Markdown.
    text: String,
    /// The document of which this is a new version.
    id: Option<String>,
    /// What this version is called.
    label: Option<String>,
}

/// A text that is more than an answer: a letter, a plan, an article.
pub const DOCUMENT: PayloadConfig = PayloadConfig {
    payload_type: "text_document",
    marker: "DOCUMENT:",
    instructions: "A text of its own that the person will work on or take away, such as a letter, a plan or an article. The text is Markdown:\n\
                   DOCUMENT: {\"title\": \"Letter\", \"text\": \"Dear Ann,\\n\\nthank you.\"}\n\
                   To change one, write all of it again with the id of its last version; the person sees what has changed, and may \
                   accept or reject it:\n\
                   DOCUMENT: {\"id\": \"abcd1234\", \"title\": \"Letter\", \"text\": \"Dear Ann,\\n\\nthank you so much.\"}",
    writing: "Writing a document...",
    parse,
    schema: schema::of::<Written>,
    revise: Some(revise),
    as_written,
};

fn parse(data: &Value) -> Result<Value, String> {
    Written::deserialize(data).map_err(|error| error.to_string())?;
    Ok(data.clone())
}

/// All versions so far and this one, with the id of the one before.
fn revise(written: &Value, id: &str, earlier: &Value) -> Value {
    let mut versions = match &earlier["versions"] {
        Value::Array(versions) => versions.clone(),
        _ => vec![version(earlier)],
    };
    versions.push(version(written));
    let first = versions.len().saturating_sub(VERSIONS);
    let title = [written, earlier]
        .into_iter()
        .find_map(|data| data["title"].as_str());
    json!({ "title": title, "of": id, "versions": versions.split_off(first) })
}

fn version(data: &Value) -> Value {
    match &data["label"] {
        Value::String(label) => json!({ "text": data["text"], "label": label }),
        _ => json!({ "text": data["text"] }),
    }
}

/// Its newest version.
fn as_written(data: &Value) -> Value {
    let Some(Value::Array(versions)) = data.get("versions") else {
        return data.clone();
    };
    let newest = versions.last().unwrap_or(&Value::Null);
    let mut written = json!({ "text": newest["text"] });
    for (field, value) in [
        ("id", &data["of"]),
        ("title", &data["title"]),
        ("label", &newest["label"]),
    ] {
        if value.is_string() {
            written[field] = value.clone();
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payloads;

    #[test]
    fn a_new_version_stands_after_those_before_and_keeps_the_title() {
        let first = json!({"title": "T", "text": "a"});
        let second = revise(&json!({"text": "b", "label": "Shorter"}), "id1", &first);
        let third = revise(&json!({"text": "c", "title": "New"}), "id2", &second);
        assert_eq!(
            third,
            json!({"title": "New", "of": "id2", "versions": [
                {"text": "a"}, {"text": "b", "label": "Shorter"}, {"text": "c"}
            ]})
        );
        assert_eq!(second["title"], "T");
        assert!(payloads::fits("text_document", &third));
        let again = json!({"id": "id1", "title": "T", "text": "b", "label": "Shorter"});
        assert_eq!(as_written(&second), again);
    }

    #[test]
    fn the_oldest_of_many_versions_are_left_behind() {
        let mut data = json!({"text": "0"});
        for index in 1..30 {
            data = revise(&json!({"text": index.to_string()}), "id", &data);
        }
        let versions = data["versions"].as_array().unwrap();
        assert_eq!((versions.len(), &versions[0]["text"]), (VERSIONS, &json!("10")));
    }
}
