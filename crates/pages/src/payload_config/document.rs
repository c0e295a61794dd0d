//! A document that the model and the user write together, in versions.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::PayloadConfig;
use parlor_tools::{UNKNOWN_VERSION_FIELD, schema};

/// The maximum number of versions that are stored together. The oldest ones are dropped.
const MAX_VERSIONS: usize = 20;

/// A text of its own, or a new version of one.
#[derive(JsonSchema, Deserialize)]
#[expect(dead_code, reason = "some of it stands for its schema")]
struct WrittenDocument {
    title: Option<String>,
    /// All of it, as Markdown.
    text: String,
    /// The document of which this is a new version. One that is not known becomes a new document.
    id: Option<String>,
    /// What this version is called.
    label: Option<String>,
}

/// A text that is more than an answer: a letter, a plan, an article.
pub const DOCUMENT: PayloadConfig = PayloadConfig {
    payload_type: "text_document",
    marker: "DOCUMENT:",
    instructions: || {
        "A text to work on or to take away, such as a letter, as Markdown; to change one, write it again with its last version's \"id\":\n\
                   DOCUMENT: {\"title\": \"Letter\", \"text\": \"Dear Ann,\\n\\nthank you.\"}"
            .into()
    },
    progress_text: "Writing a document...",
    parse,
    schema: schema::for_type::<WrittenDocument>,
    revise: Some(revise),
    to_model_input: latest_as_written,
    is_corrected: false,
    base: None,
    proposal: None,
};

/// Parses a document. If it is a new version, the result has a note with the id of the earlier document.
/// [`revise`] removes the note when it joins the two. A document that still has it was stored as a new one,
/// and the list of payloads tells the model so.
fn parse(data: &Value) -> Result<Value, String> {
    let written = WrittenDocument::deserialize(data).map_err(|error| error.to_string())?;
    let mut data = data.clone();
    if let Some(fields) = data.as_object_mut() {
        fields.remove(UNKNOWN_VERSION_FIELD);
        fields.extend(written.id.map(|id| (UNKNOWN_VERSION_FIELD.into(), id.into())));
    }
    Ok(data)
}

/// Joins all earlier versions and this one. The result has the id of the previous one.
fn revise(written: &Value, id: &str, earlier: &Value) -> Value {
    let mut versions = match &earlier["versions"] {
        Value::Array(versions) => versions.clone(),
        _ => vec![to_version(earlier)],
    };
    versions.push(to_version(written));
    let first = versions.len().saturating_sub(MAX_VERSIONS);
    let title = [written, earlier]
        .into_iter()
        .find_map(|data| data["title"].as_str());
    json!({ "title": title, "of": id, "versions": versions.split_off(first) })
}

fn to_version(data: &Value) -> Value {
    match &data["label"] {
        Value::String(label) => json!({ "text": data["text"], "label": label }),
        _ => json!({ "text": data["text"] }),
    }
}

/// Returns the newest version in the form in which the model writes it.
fn latest_as_written(data: &Value) -> Value {
    let Some(Value::Array(versions)) = data.get("versions") else {
        let mut written = data.clone();
        if let Some(fields) = written.as_object_mut() {
            fields.remove(UNKNOWN_VERSION_FIELD);
        }
        return written;
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
    use parlor_tools::NewPayload;

    #[test]
    fn new_version_is_appended_and_keeps_the_title() {
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
        assert!(payloads::is_valid("text_document", &third));
        let again = json!({"id": "id1", "title": "T", "text": "b", "label": "Shorter"});
        assert_eq!(latest_as_written(&second), again);
    }

    #[test]
    fn version_of_an_unknown_document_is_noted() {
        let listed = |data: Value| {
            let kind = "text_document".into();
            NewPayload { kind, data }.into_payload(1000).unwrap().summary
        };
        let mut written = parse(&json!({"id": "abcd1234", "title": "T", "text": "a"})).unwrap();
        // As the payload factory does.
        let id = written.as_object_mut().unwrap().remove("id");
        assert_eq!(id, Some(json!("abcd1234")));
        assert_eq!(
            listed(written.clone()),
            "Text document: T (a new one, no version of abcd1234)"
        );
        assert_eq!(latest_as_written(&written), json!({"title": "T", "text": "a"}));

        let first = parse(&json!({"title": "T", "text": "a", "no_version_of": "x"})).unwrap();
        assert_eq!(listed(first.clone()), "Text document: T");
        assert_eq!(
            listed(revise(&written, "abcd1234", &first)),
            "Text document: T (2)"
        );
        assert!(payloads::is_valid("text_document", &written));
    }

    #[test]
    fn drops_the_oldest_versions() {
        let mut data = json!({"text": "0"});
        for index in 1..30 {
            data = revise(&json!({"text": index.to_string()}), "id", &data);
        }
        let versions = data["versions"].as_array().unwrap();
        assert_eq!(
            (versions.len(), &versions[0]["text"]),
            (MAX_VERSIONS, &json!("10"))
        );
    }
}
