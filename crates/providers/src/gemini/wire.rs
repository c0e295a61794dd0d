//! The chunks of a streamed response, or the whole response.

use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value};

use crate::lenient::{default_if_invalid, ignore_invalid, null_as_default, text_or_default};
use parlor_model::ReportedUsage;
use parlor_protocol::RawJson;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Chunk {
    pub candidates: Option<Vec<Candidate>>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub prompt_feedback: Option<PromptFeedback>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub usage_metadata: Option<UsageMetadata>,
    /// An error after the status 200 can be reported only here.
    pub error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Candidate {
    #[serde(deserialize_with = "null_as_default")]
    pub index: u64,
    pub content: Option<RawJson>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub finish_reason: Option<String>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub finish_message: Option<String>,
    #[serde(deserialize_with = "default_if_invalid")]
    pub safety_ratings: Vec<SafetyRating>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub grounding_metadata: Option<GroundingMetadata>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub citation_metadata: Option<CitationMetadata>,
}

/// The usual content, an object with parts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Content {
    pub parts: Option<RawJson>,
}

/// A part, in Google's own form or with a type, as some proxies send it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Part {
    #[serde(rename = "type", deserialize_with = "ignore_invalid")]
    pub kind: Option<String>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub text: Option<String>,
    /// True if the text is a summary of thoughts.
    #[serde(deserialize_with = "null_as_default")]
    pub thought: bool,
    /// The text of a part with the type `thinking`.
    #[serde(deserialize_with = "ignore_invalid")]
    pub thinking: Option<String>,
    pub thought_signature: Option<RawJson>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub function_call: Option<FunctionCall>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub inline_data: Option<Media>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub file_data: Option<Media>,
    pub image_url: Option<IgnoredAny>,
    /// Other fields: those of the server's own tools.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// A function call, or a part of one that is streamed.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct FunctionCall {
    #[serde(deserialize_with = "ignore_invalid")]
    pub id: Option<String>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub name: Option<String>,
    pub args: Option<Value>,
    #[serde(deserialize_with = "null_as_default")]
    pub partial_args: Vec<PartialArgument>,
    /// True if more of this call follows.
    #[serde(deserialize_with = "null_as_default")]
    pub will_continue: bool,
}

/// A part of an argument that is streamed.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PartialArgument {
    #[serde(deserialize_with = "text_or_default")]
    pub json_path: String,
    /// A part of a string.
    #[serde(deserialize_with = "ignore_invalid")]
    pub string_value: Option<String>,
    pub number_value: Option<Value>,
    pub bool_value: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Media {
    #[serde(deserialize_with = "text_or_default")]
    pub mime_type: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PromptFeedback {
    #[serde(deserialize_with = "ignore_invalid")]
    pub block_reason: Option<String>,
    #[serde(deserialize_with = "text_or_default")]
    pub block_reason_message: String,
    #[serde(deserialize_with = "default_if_invalid")]
    pub safety_ratings: Vec<SafetyRating>,
}

/// A judgement of the prompt or the answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SafetyRating {
    #[serde(deserialize_with = "text_or_default")]
    pub category: String,
    #[serde(deserialize_with = "text_or_default")]
    pub probability: String,
    #[serde(deserialize_with = "default_if_invalid")]
    pub blocked: bool,
}

/// Token counts so far.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct UsageMetadata {
    #[serde(deserialize_with = "ignore_invalid")]
    pub prompt_token_count: Option<u64>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub tool_use_prompt_token_count: Option<u64>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub cached_content_token_count: Option<u64>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub candidates_token_count: Option<u64>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub thoughts_token_count: Option<u64>,
    #[serde(deserialize_with = "default_if_invalid")]
    pub prompt_tokens_details: Vec<ModalityTokens>,
    #[serde(deserialize_with = "default_if_invalid")]
    pub candidates_tokens_details: Vec<ModalityTokens>,
}

/// The tokens of one kind of content.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ModalityTokens {
    #[serde(deserialize_with = "text_or_default")]
    pub modality: String,
    #[serde(deserialize_with = "default_if_invalid")]
    pub token_count: u64,
}

impl UsageMetadata {
    pub fn to_usage(&self) -> ReportedUsage {
        let count = |count: Option<u64>| count.unwrap_or(0);
        let thinking_tokens = count(self.thoughts_token_count);
        ReportedUsage {
            input_tokens: count(self.prompt_token_count)
                .saturating_add(count(self.tool_use_prompt_token_count)),
            output_tokens: count(self.candidates_token_count).saturating_add(thinking_tokens),
            cached_input_tokens: count(self.cached_content_token_count),
            thinking_tokens,
            image_input_tokens: image_tokens(&self.prompt_tokens_details),
            image_output_tokens: image_tokens(&self.candidates_tokens_details),
            ..ReportedUsage::default()
        }
    }
}

fn image_tokens(details: &[ModalityTokens]) -> u64 {
    let images = details.iter().filter(|tokens| tokens.modality == "IMAGE");
    images.fold(0, |sum, tokens| sum.saturating_add(tokens.token_count))
}

/// The pages that the server has found.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct GroundingMetadata {
    #[serde(deserialize_with = "default_if_invalid")]
    pub grounding_chunks: Vec<GroundingChunk>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct GroundingChunk {
    #[serde(deserialize_with = "ignore_invalid")]
    pub web: Option<WebPage>,
    /// A document of the user's own stores.
    #[serde(deserialize_with = "ignore_invalid")]
    pub retrieved_context: Option<WebPage>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub maps: Option<WebPage>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub image: Option<WebPage>,
}

/// The pages from which the model recites.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CitationMetadata {
    #[serde(alias = "citations", deserialize_with = "default_if_invalid")]
    pub citation_sources: Vec<WebPage>,
}

/// A web page, or a document that may have a URL.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct WebPage {
    #[serde(alias = "sourceUri", deserialize_with = "text_or_default")]
    pub uri: String,
    #[serde(deserialize_with = "ignore_invalid")]
    pub title: Option<String>,
    #[serde(deserialize_with = "text_or_default")]
    pub document_name: String,
    /// The store of a document that has neither a name nor a URL.
    #[serde(deserialize_with = "text_or_default")]
    pub file_search_store: String,
    /// The notes of its owner about a document: a URL, perhaps.
    #[serde(deserialize_with = "default_if_invalid")]
    pub custom_metadata: Vec<DocumentNote>,
}

/// A note about a document.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DocumentNote {
    #[serde(deserialize_with = "text_or_default")]
    pub string_value: String,
}

impl WebPage {
    /// Returns the address of the page or the document; of a document without one, the first that its owner has noted.
    pub fn web_address(&self) -> Option<&str> {
        let noted = self.custom_metadata.iter().map(|note| &*note.string_value);
        std::iter::once(&*self.uri)
            .chain(noted)
            .map(str::trim)
            .find(|uri| uri.starts_with("http://") || uri.starts_with("https://"))
    }
}
