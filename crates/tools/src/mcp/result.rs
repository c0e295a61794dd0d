//! Converts the result of a server's tool: text for the model, and other content as attachments.

use base64::{Engine, prelude::BASE64_STANDARD};
use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};
use serde_json::Value;

use crate::{
    NewAttachment, NewPayload, ToolResult,
    attachment::{UNKNOWN_MEDIA_TYPE, is_media_type},
};

/// The key of `_meta`, of a tool or of a result, that names the payload type of structured content.
pub const PAYLOAD_META: &str = "parlor/payload";

/// The type of structured content that no payload type fits: it is shown as a tree.
const STRUCTURED_RESULT: &str = "structured_result";

/// The payload types that a server's data may be. Proposals are the model's alone, and a document could be a version of another.
const FOREIGN_TYPES: [&str; 5] = [
    "chart",
    "pubmed_article",
    "pubmed_search_results",
    "table",
    "web_search_results",
];

/// Returns the payload type for structured content, if it is one that a server's data may be.
pub fn payload_type(name: Option<&Value>) -> Option<&'static str> {
    let name = name?.as_str()?;
    FOREIGN_TYPES.into_iter().find(|known| *known == name)
}

/// Returns the payload of structured content: a known type's, or data for the tree.
fn to_payload(data: Value, kind: Option<&'static str>) -> Option<NewPayload> {
    let Value::Object(mut fields) = data else {
        return None;
    };
    // Only a query has its rows in a file.
    fields.remove("stored");
    (!fields.is_empty()).then(|| NewPayload {
        kind: kind.unwrap_or(STRUCTURED_RESULT).into(),
        data: Value::Object(fields),
    })
}

/// Converts a result to Parlor's form. Its structured content becomes a payload of the type that the result names, or else the tool; of
/// a call that has failed, only text and files are kept.
pub fn convert(tool: &str, result: CallToolResult, tools_type: Option<&'static str>) -> ToolResult {
    let mut read = ResultReader {
        tool,
        texts: Vec::new(),
        attachments: Vec::new(),
    };
    for block in result.content {
        read.push_block(block);
    }
    let mut text = read.texts.join("\n");
    let structured = result.structured_content;
    if text.trim().is_empty()
        && let Some(structured) = &structured
    {
        text = structured.to_string();
    }
    if result.is_error == Some(true) {
        if text.trim().is_empty() {
            text = "The tool failed and did not say why.".into();
        }
        return ToolResult {
            text,
            has_failed: true,
            attachments: read.attachments,
            ..ToolResult::default()
        };
    }
    let named = result.meta.as_ref().and_then(|meta| meta.0.get(PAYLOAD_META));
    let kind = payload_type(named).or(tools_type);
    ToolResult {
        text,
        attachments: read.attachments,
        payload: structured.and_then(|data| to_payload(data, kind)),
        ..ToolResult::default()
    }
}

/// Converts the contents of a resource to Parlor's form.
pub fn convert_contents(tool: &str, contents: Vec<ResourceContents>) -> ToolResult {
    let mut read = ResultReader {
        tool,
        texts: Vec::new(),
        attachments: Vec::new(),
    };
    for part in contents {
        read.push_contents(part);
    }
    if read.texts.is_empty() {
        read.texts.push("The resource is empty.".into());
    }
    ToolResult {
        text: read.texts.join("\n"),
        attachments: read.attachments,
        ..ToolResult::default()
    }
}

struct ResultReader<'a> {
    tool: &'a str,
    texts: Vec<String>,
    attachments: Vec<NewAttachment>,
}

impl ResultReader<'_> {
    fn push_block(&mut self, block: ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.texts.push(text.text),
            ContentBlock::Image(image) => self.attach(None, image.mime_type, &image.data),
            ContentBlock::Audio(audio) => self.attach(None, audio.mime_type, &audio.data),
            ContentBlock::ResourceLink(resource) => self.texts.push(link(&resource)),
            ContentBlock::Resource(embedded) => self.push_contents(embedded.resource),
            _ => self.push_unknown(),
        }
    }

    fn push_contents(&mut self, contents: ResourceContents) {
        match contents {
            ResourceContents::TextResourceContents { uri, text, .. } if uri.is_empty() => {
                self.texts.push(text)
            }
            ResourceContents::TextResourceContents { uri, text, .. } => {
                self.texts.push(format!("[{uri}]\n{text}"));
            }
            ResourceContents::BlobResourceContents {
                uri, mime_type, blob, ..
            } => self.attach(
                Some(uri).filter(|uri| !uri.is_empty()),
                mime_type.unwrap_or_default(),
                &blob,
            ),
            _ => self.push_unknown(),
        }
    }

    fn push_unknown(&mut self) {
        self.texts.push("[something that can't be shown]".into());
    }

    /// Attaches content that is not text, and mentions it in the text.
    fn attach(&mut self, uri: Option<String>, media_type: String, base64: &str) {
        let media_type = if is_media_type(&media_type) {
            media_type
        } else {
            UNKNOWN_MEDIA_TYPE.into()
        };
        let Ok(data) = BASE64_STANDARD.decode(base64) else {
            self.texts.push(format!("[{media_type}, which can't be read]"));
            return;
        };
        let url = uri.map(|uri| format!(", {uri}")).unwrap_or_default();
        self.texts
            .push(format!("[{media_type}, {} bytes{url}]", data.len()));
        self.attachments.push(NewAttachment {
            name: format!("{}-{}", self.tool, self.attachments.len() + 1),
            media_type,
            data: data.into(),
        });
    }
}

fn link(resource: &Resource) -> String {
    let title = resource.title.as_ref().unwrap_or(&resource.name);
    let description = resource.description.as_ref();
    let description = description.map(|text| format!(" ({text})")).unwrap_or_default();
    format!("{title}: {}{description}", resource.uri)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn convert_json(result: Value) -> ToolResult {
        convert("draw", serde_json::from_value(result).unwrap(), None)
    }

    #[test]
    fn separates_text_from_attachments() {
        let png = |data: &str| json!({ "type": "image", "mimeType": "image/png", "data": data });
        let result = convert_json(json!({ "content": [
            { "type": "text", "text": "one" },
            png("aGVsbG8="),
            { "type": "audio", "mimeType": "a b\nc", "data": "aGk=" },
            png("no base64!"),
            { "type": "resource_link", "uri": "file:///a", "name": "A", "description": "the first" },
            { "type": "resource", "resource": { "uri": "demo://t", "text": "inside" } },
            { "type": "resource", "resource": { "uri": "demo://b", "blob": "aGk=", "mimeType": "application/zip" } },
        ], "structuredContent": {} }));
        let attachment = |number, media_type: &str, data: &'static [u8]| NewAttachment {
            media_type: media_type.into(),
            name: format!("draw-{number}"),
            data: data.into(),
        };
        let expected = ToolResult {
            text: "one\n[image/png, 5 bytes]\n[application/octet-stream, 2 bytes]\n[image/png, which can't be read]\n\
                   A: file:///a (the first)\n[demo://t]\ninside\n[application/zip, 2 bytes, demo://b]"
                .into(),
            attachments: vec![
                attachment(1, "image/png", b"hello"),
                attachment(2, "application/octet-stream", b"hi"),
                attachment(3, "application/zip", b"hi"),
            ],
            ..ToolResult::default()
        };
        assert_eq!(result, expected);
    }

    #[test]
    fn uses_structured_data_without_text() {
        let result = convert_json(json!({ "content": [], "structuredContent": { "a": 1 } }));
        assert_eq!(result.text, r#"{"a":1}"#);
    }

    #[test]
    fn failed_calls_keep_their_files() {
        let failed = |result: Value| {
            let result = convert_json(result);
            assert!(result.has_failed && result.payload.is_none());
            (result.text, result.attachments.len())
        };
        let text = json!({ "type": "text", "text": "No such city." });
        let map = json!({ "type": "image", "mimeType": "image/png", "data": "aGk=" });
        let full = json!({ "content": [text, map], "isError": true, "structuredContent": { "a": 1 } });
        assert_eq!(failed(full), ("No such city.\n[image/png, 2 bytes]".into(), 1));
        let unsaid = "The tool failed and did not say why.".to_owned();
        assert_eq!(failed(json!({ "content": [], "isError": true })), (unsaid, 0));
    }

    #[test]
    fn structured_data_become_a_payload() {
        let result = |meta: Value, content: Value, of_tool| {
            let result = json!({ "content": [], "structuredContent": content, "_meta": meta });
            let converted = convert("draw", serde_json::from_value(result).unwrap(), of_tool);
            converted.payload.map(|made| (made.kind, made.data))
        };
        let named = |name: &str| json!({ PAYLOAD_META: name });
        let rows = json!({ "columns": ["a"], "rows": [[1]], "stored": { "rows": 9 } });
        let shown = json!({ "columns": ["a"], "rows": [[1]] });
        assert_eq!(
            result(named("table"), rows.clone(), None),
            Some(("table".into(), shown.clone()))
        );
        assert_eq!(
            result(json!({}), rows.clone(), Some("chart")),
            Some(("chart".into(), shown.clone()))
        );
        // The model's own types are none of a server's, and neither are unknown ones.
        for name in ["stream_suggestions", "text_document", "structured_result", "x"] {
            let made = result(named(name), rows.clone(), None);
            assert_eq!(made, Some((STRUCTURED_RESULT.into(), shown.clone())), "{name}");
        }
        assert_eq!(result(named("table"), json!([1]), None), None);
    }
}
