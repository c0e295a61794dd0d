//! The events of a streamed response, and the response of a server that does not stream.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::lenient::{default_if_invalid, ignore_invalid, text_or_default};
use parlor_model as model;
use parlor_protocol::RawJson;

/// One event: the fields of all types.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct StreamEvent {
    #[serde(rename = "type", deserialize_with = "text_or_default")]
    pub kind: String,
    /// The position of the item.
    #[serde(deserialize_with = "ignore_invalid")]
    pub output_index: Option<u64>,
    /// The position of a paragraph of the summary.
    #[serde(deserialize_with = "default_if_invalid")]
    pub summary_index: u64,
    /// The next part of a text or of arguments.
    #[serde(deserialize_with = "ignore_invalid")]
    pub delta: Option<String>,
    /// All arguments of a call.
    #[serde(deserialize_with = "ignore_invalid")]
    pub arguments: Option<String>,
    pub item: Option<RawJson>,
    #[serde(deserialize_with = "text_or_default")]
    pub item_id: String,
    #[serde(deserialize_with = "ignore_invalid")]
    pub annotation: Option<Annotation>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub part: Option<ContentPart>,
    pub response: Option<RawJson>,
    pub error: Option<Value>,
    /// The description of an `error` event without an object.
    #[serde(deserialize_with = "ignore_invalid")]
    pub message: Option<String>,
    pub code: Option<Value>,
}

/// An item of the output.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct OutputItem {
    #[serde(rename = "type", deserialize_with = "text_or_default")]
    pub kind: String,
    #[serde(deserialize_with = "text_or_default")]
    pub id: String,
    #[serde(deserialize_with = "text_or_default")]
    pub status: String,
    /// The phase of a message: "commentary" or "final_answer".
    #[serde(deserialize_with = "text_or_default")]
    pub phase: String,
    #[serde(deserialize_with = "text_or_default")]
    pub call_id: String,
    #[serde(deserialize_with = "text_or_default")]
    pub name: String,
    #[serde(deserialize_with = "ignore_invalid")]
    pub arguments: Option<String>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub encrypted_content: Option<String>,
    #[serde(deserialize_with = "lenient_parts")]
    pub content: Vec<ContentPart>,
    #[serde(deserialize_with = "lenient_parts")]
    pub summary: Vec<ContentPart>,
}

/// A part of a message, of a summary or of reasoning.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ContentPart {
    #[serde(rename = "type", deserialize_with = "text_or_default")]
    pub kind: String,
    #[serde(deserialize_with = "text_or_default")]
    pub text: String,
    #[serde(deserialize_with = "text_or_default")]
    pub refusal: String,
    /// The words of audio.
    #[serde(deserialize_with = "text_or_default")]
    pub transcript: String,
    #[serde(deserialize_with = "default_if_invalid")]
    pub annotations: Vec<Annotation>,
}

impl ContentPart {
    pub fn is_image(&self) -> bool {
        self.kind.contains("image")
    }

    /// Returns true for a part with text, and for one without a type.
    pub fn is_text(&self) -> bool {
        let is_known = matches!(
            self.kind.as_str(),
            "" | "output_text" | "text" | "refusal" | "summary_text"
        );
        is_known || !self.text.is_empty()
    }
}

/// Reads a list of parts. Some servers send texts in place of parts, or the only part in place of the list.
fn lenient_parts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<ContentPart>, D::Error> {
    let parts = match Value::deserialize(from)? {
        Value::Null => Vec::new(),
        Value::Array(parts) => parts,
        only => vec![only],
    };
    let read = |part| match part {
        Value::String(text) => ContentPart {
            text,
            ..ContentPart::default()
        },
        part => serde_json::from_value(part).unwrap_or_default(),
    };
    Ok(parts.into_iter().map(read).collect())
}

/// A note about a text: a cited page with a URL, or a file of the request, of a store or of a container.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Annotation {
    #[serde(deserialize_with = "text_or_default")]
    pub url: String,
    #[serde(deserialize_with = "ignore_invalid")]
    pub title: Option<String>,
    #[serde(deserialize_with = "text_or_default")]
    pub filename: String,
    #[serde(deserialize_with = "text_or_default")]
    pub file_id: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Response {
    #[serde(deserialize_with = "text_or_default")]
    pub object: String,
    #[serde(deserialize_with = "text_or_default")]
    pub status: String,
    pub error: Option<Value>,
    #[serde(deserialize_with = "default_if_invalid")]
    pub incomplete_details: IncompleteDetails,
    #[serde(deserialize_with = "ignore_invalid")]
    pub usage: Option<Usage>,
    pub output: Option<Vec<RawJson>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct IncompleteDetails {
    #[serde(deserialize_with = "text_or_default")]
    pub reason: String,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Usage {
    #[serde(deserialize_with = "default_if_invalid")]
    pub input_tokens: u64,
    #[serde(deserialize_with = "default_if_invalid")]
    pub output_tokens: u64,
    #[serde(deserialize_with = "default_if_invalid")]
    pub input_tokens_details: InputTokens,
    #[serde(deserialize_with = "default_if_invalid")]
    pub output_tokens_details: OutputTokens,
}

impl Usage {
    pub fn to_usage(self) -> model::ReportedUsage {
        model::ReportedUsage {
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            cached_input_tokens: self.input_tokens_details.cached_tokens,
            thinking_tokens: self.output_tokens_details.reasoning_tokens,
            image_input_tokens: self.input_tokens_details.image_tokens,
            image_output_tokens: self.output_tokens_details.image_tokens,
            ..model::ReportedUsage::default()
        }
    }
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct InputTokens {
    #[serde(deserialize_with = "default_if_invalid")]
    pub cached_tokens: u64,
    #[serde(deserialize_with = "default_if_invalid")]
    pub image_tokens: u64,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct OutputTokens {
    #[serde(deserialize_with = "default_if_invalid")]
    pub reasoning_tokens: u64,
    #[serde(deserialize_with = "default_if_invalid")]
    pub image_tokens: u64,
}
