//! Converts the result of a server's tool: text for the model, and other content as attachments.

use base64::{Engine, prelude::BASE64_STANDARD};
use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};

use crate::{
    NewAttachment, ToolError, ToolResult,
    attachment::{UNKNOWN_MEDIA_TYPE, is_media_type},
};

/// Converts a result to Parlor's form.
///
/// # Errors
///
/// If the tool reports an error.
pub fn convert(tool: &str, result: CallToolResult) -> Result<ToolResult, ToolError> {
    let mut read = ResultReader {
        tool,
        texts: Vec::new(),
        attachments: Vec::new(),
    };
    for block in result.content {
        read.push_block(block);
    }
    let mut text = read.texts.join("\n");
    if text.trim().is_empty()
        && let Some(structured) = result.structured_content
    {
        text = structured.to_string();
    }
    if result.is_error == Some(true) {
        let unsaid = text.trim().is_empty();
        return Err(ToolError(if unsaid {
            "The tool failed and did not say why.".into()
        } else {
            text
        }));
    }
    Ok(ToolResult {
        text,
        attachments: read.attachments,
        ..ToolResult::default()
    })
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

    fn convert_json(result: Value) -> Result<ToolResult, ToolError> {
        convert("draw", serde_json::from_value(result).unwrap())
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
        ], "structuredContent": { "ignored": true } }));
        let attachment = |number, media_type: &str, data: &'static [u8]| NewAttachment {
            media_type: media_type.into(),
            name: format!("draw-{number}"),
            data: data.into(),
        };
        let expected = ToolResult {
            text: "one\n[image/png, 5 bytes]\n[application/octet-stream, 2 bytes]\n[image/png, which can't be read]\n\
                   A: file:///a (the first)\n[demo://t]\ninside\n[application/zip, 2 bytes, demo://b]"
                .into(),
            payload: None,
            known_files: Vec::new(),
            attachments: vec![
                attachment(1, "image/png", b"hello"),
                attachment(2, "application/octet-stream", b"hi"),
                attachment(3, "application/zip", b"hi"),
            ],
        };
        assert_eq!(result.unwrap(), expected);
    }

    #[test]
    fn uses_structured_data_without_text() {
        let result = convert_json(json!({ "content": [], "structuredContent": { "a": 1 } })).unwrap();
        assert_eq!(result, ToolResult::from(r#"{"a":1}"#.to_owned()));
        let error = |content: Value| {
            convert_json(json!({ "content": content, "isError": true }))
                .unwrap_err()
                .0
        };
        assert_eq!(
            error(json!([{ "type": "text", "text": "No such city." }])),
            "No such city."
        );
        assert_eq!(error(json!([])), "The tool failed and did not say why.");
    }
}
