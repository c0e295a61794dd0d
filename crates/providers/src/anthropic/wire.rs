//! The events of a streamed message, and the message of a server that does not stream.

use serde::Deserialize;
use serde_json::Value;

use crate::lenient::{default_if_invalid, ignore_invalid, null_as_default, text_or_default};
use parlor_model as model;
use parlor_model::lenient_json;
use parlor_protocol::RawJson;

/// One event, or a whole message: the fields of all types.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct StreamEvent {
    #[serde(rename = "type", deserialize_with = "text_or_default")]
    pub kind: String,
    #[serde(deserialize_with = "null_as_default")]
    pub index: u64,
    /// `message_start`.
    #[serde(deserialize_with = "ignore_invalid")]
    pub message: Option<Message>,
    /// `content_block_start`.
    pub content_block: Option<RawJson>,
    /// `content_block_delta`, `message_delta`.
    #[serde(deserialize_with = "null_as_default")]
    pub delta: Delta,
    /// `message_delta`, and a whole message.
    #[serde(deserialize_with = "ignore_invalid")]
    pub usage: Option<Usage>,
    pub error: Option<Value>,
    /// A whole message.
    pub content: Option<RawJson>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub stop_reason: Option<String>,
    #[serde(deserialize_with = "default_if_invalid")]
    pub stop_details: StopDetails,
}

/// The explanation of a stop.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct StopDetails {
    #[serde(deserialize_with = "text_or_default")]
    pub category: String,
    #[serde(deserialize_with = "text_or_default")]
    pub explanation: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Message {
    #[serde(deserialize_with = "null_as_default")]
    pub id: String,
    #[serde(deserialize_with = "ignore_invalid")]
    pub usage: Option<Usage>,
}

/// A content block as it begins, or a whole one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Block {
    #[serde(rename = "type", deserialize_with = "text_or_default")]
    pub kind: String,
    #[serde(deserialize_with = "text_or_default")]
    pub text: String,
    #[serde(deserialize_with = "text_or_default")]
    pub thinking: String,
    #[serde(deserialize_with = "text_or_default")]
    pub signature: String,
    #[serde(deserialize_with = "text_or_default")]
    pub id: String,
    #[serde(deserialize_with = "text_or_default")]
    pub name: String,
    pub input: Option<RawJson>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub citations: Option<Vec<Citation>>,
}

impl Block {
    /// Parses a block. Some servers send its text alone.
    pub fn parse(raw: &RawJson) -> Self {
        if let Ok(text) = lenient_json::parse(raw.as_str()) {
            return Self {
                kind: "text".into(),
                text,
                ..Self::default()
            };
        }
        let mut block: Self = lenient_json::parse(raw.as_str()).unwrap_or_default();
        if block.kind.is_empty() {
            block.kind = match block.text.is_empty() {
                true => "block".into(),
                false => "text".into(),
            };
        }
        block
    }
}

/// The change of a block or of the message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Delta {
    #[serde(rename = "type", deserialize_with = "text_or_default")]
    pub kind: String,
    #[serde(deserialize_with = "text_or_default")]
    pub text: String,
    #[serde(deserialize_with = "text_or_default")]
    pub thinking: String,
    #[serde(deserialize_with = "text_or_default")]
    pub signature: String,
    #[serde(deserialize_with = "text_or_default")]
    pub partial_json: String,
    /// A part of a summary.
    #[serde(deserialize_with = "text_or_default")]
    pub content: String,
    #[serde(deserialize_with = "ignore_invalid")]
    pub citation: Option<Citation>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub stop_reason: Option<String>,
    #[serde(deserialize_with = "default_if_invalid")]
    pub stop_details: StopDetails,
}

/// A place in a source: a web page with a URL, or a document.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Citation {
    /// The URL of a page that the server's own web search found.
    #[serde(deserialize_with = "ignore_invalid")]
    pub url: Option<String>,
    /// The URL in a search result of the request.
    #[serde(deserialize_with = "ignore_invalid")]
    pub source: Option<String>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub title: Option<String>,
    /// The name of a document in the request, or in a container.
    #[serde(deserialize_with = "text_or_default")]
    pub document_title: String,
    #[serde(deserialize_with = "text_or_default")]
    pub file_id: String,
    #[serde(deserialize_with = "ignore_invalid")]
    pub document_index: Option<u64>,
}

/// Token counts. Those of `message_delta` replace the earlier ones.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// The input that was neither read from the cache nor written to it.
    #[serde(deserialize_with = "ignore_invalid")]
    pub input_tokens: Option<u64>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub cache_creation_input_tokens: Option<u64>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub cache_read_input_tokens: Option<u64>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub output_tokens: Option<u64>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub output_tokens_details: Option<OutputTokens>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct OutputTokens {
    #[serde(deserialize_with = "ignore_invalid")]
    pub thinking_tokens: Option<u64>,
}

impl Usage {
    /// Replaces the counts that `later` has.
    pub fn update(&mut self, later: Self) {
        let Self {
            input_tokens,
            cache_creation_input_tokens,
            cache_read_input_tokens,
            output_tokens,
            output_tokens_details,
        } = later;
        self.input_tokens = input_tokens.or(self.input_tokens);
        self.cache_creation_input_tokens = cache_creation_input_tokens.or(self.cache_creation_input_tokens);
        self.cache_read_input_tokens = cache_read_input_tokens.or(self.cache_read_input_tokens);
        self.output_tokens = output_tokens.or(self.output_tokens);
        self.output_tokens_details = output_tokens_details.or(self.output_tokens_details);
    }

    /// Returns the counts in the common form, whose input includes what was cached.
    pub fn total(&self) -> model::ReportedUsage {
        let count = |count: Option<u64>| count.unwrap_or(0);
        let cached_input_tokens = count(self.cache_read_input_tokens);
        let cache_write_tokens = count(self.cache_creation_input_tokens);
        let thinking_tokens = self
            .output_tokens_details
            .and_then(|details| details.thinking_tokens);
        model::ReportedUsage {
            input_tokens: count(self.input_tokens)
                .saturating_add(cached_input_tokens)
                .saturating_add(cache_write_tokens),
            output_tokens: count(self.output_tokens),
            cached_input_tokens,
            cache_write_tokens,
            thinking_tokens: count(thinking_tokens),
            ..model::ReportedUsage::default()
        }
    }
}
