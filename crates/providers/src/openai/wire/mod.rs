//! The chunks of a streamed chat completion, as real servers send them.
//!
//! These types replace async-openai's, which drop reasoning and reject arrays of typed parts. They accept the
//! variations of this protocol's many servers (nulls, missing fields, several fields for thinking) and ignore
//! the rest.

mod content;

use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value};

use crate::lenient::{default_if_invalid, ignore_invalid, null_as_default};
use parlor_protocol::RawJson;

/// One `data:` of the stream, or the whole answer from a server that does not stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Chunk {
    /// Empty or missing in chunks with only usage or a vendor's fields.
    pub choices: Option<Vec<Choice>>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub usage: Option<Usage>,
    /// An error after the status 200 can be reported only here.
    pub error: Option<Value>,
    /// Perplexity: URLs, in the order of their numbers in the text. Some servers send pages.
    #[serde(deserialize_with = "ignore_invalid")]
    pub citations: Option<Vec<Citation>>,
    /// Perplexity: the cited pages, with their titles.
    #[serde(deserialize_with = "ignore_invalid")]
    pub search_results: Option<Vec<CitedPage>>,
}

/// An entry of `citations`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Citation {
    Url(String),
    Page(CitedPage),
    Other(IgnoredAny),
}

/// A web page, or a document without a URL.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CitedPage {
    #[serde(deserialize_with = "ignore_invalid")]
    pub title: Option<String>,
    #[serde(deserialize_with = "null_as_default")]
    pub url: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Choice {
    #[serde(deserialize_with = "null_as_default")]
    pub index: u64,
    /// Boxed: serde reserves four places for the list of choices, which usually has one.
    pub delta: Option<Box<Delta>>,
    /// Replaces `delta` in an answer that is not streamed, and in some servers' chunks.
    pub message: Option<Box<Delta>>,
    /// Replaces both in answers of the older completions.
    #[serde(deserialize_with = "ignore_invalid")]
    pub text: Option<String>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub finish_reason: Option<String>,
    /// OpenRouter: the error of the provider behind it, in the middle of an answer.
    pub error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Delta {
    pub content: Option<Content>,
    /// DeepSeek, xAI, llama.cpp, vLLM.
    #[serde(deserialize_with = "ignore_invalid")]
    pub reasoning_content: Option<String>,
    /// Groq, OpenRouter, Ollama, newer vLLM.
    #[serde(deserialize_with = "ignore_invalid")]
    pub reasoning: Option<String>,
    /// GitHub Copilot.
    #[serde(deserialize_with = "ignore_invalid")]
    pub reasoning_text: Option<String>,
    /// Ollama's own field, which some proxies forward.
    pub thinking: Option<ThinkingField>,
    /// OpenRouter, in addition to `reasoning` or instead of it. It expects them back.
    pub reasoning_details: Option<RawJson>,
    /// LiteLLM: Anthropic's blocks. It expects them back.
    pub thinking_blocks: Option<RawJson>,
    /// The text of a refusal by OpenAI's models.
    #[serde(deserialize_with = "ignore_invalid")]
    pub refusal: Option<String>,
    #[serde(deserialize_with = "null_as_default")]
    pub tool_calls: Vec<ToolCallFragment>,
    /// The older field for a single tool call.
    #[serde(deserialize_with = "ignore_invalid")]
    pub function_call: Option<Function>,
    /// OpenRouter.
    pub images: Option<RawJson>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub audio: Option<Audio>,
    /// OpenAI, OpenRouter.
    #[serde(deserialize_with = "ignore_invalid")]
    pub annotations: Option<Vec<Annotation>>,
    /// Gemini.
    pub extra_content: Option<RawJson>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Content {
    Text(String),
    /// Mistral.
    Parts(Vec<ContentPart>),
    Part(Box<TypedPart>),
    Other(IgnoredAny),
}

/// A part of a content list.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum ContentPart {
    Text(String),
    Part(Box<TypedPart>),
    Other(IgnoredAny),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct TypedPart {
    #[serde(rename = "type", deserialize_with = "ignore_invalid")]
    pub kind: Option<String>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub text: Option<String>,
    pub thinking: Option<ThinkingField>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub refusal: Option<String>,
    /// Other fields: those of an image.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum ThinkingField {
    Text(String),
    Parts(Vec<ContentPart>),
    Part(Box<TypedPart>),
    Other(IgnoredAny),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Audio {
    #[serde(deserialize_with = "ignore_invalid")]
    pub transcript: Option<String>,
    pub data: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Annotation {
    #[serde(deserialize_with = "ignore_invalid")]
    pub url_citation: Option<CitedPage>,
    /// The flat form has the page's fields here.
    #[serde(rename = "type", deserialize_with = "ignore_invalid")]
    pub kind: Option<String>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub url: Option<String>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub title: Option<String>,
    /// A file, here or in an object of its own.
    #[serde(deserialize_with = "default_if_invalid")]
    pub filename: String,
    #[serde(deserialize_with = "default_if_invalid")]
    pub file_id: String,
    #[serde(deserialize_with = "ignore_invalid")]
    pub file_citation: Option<CitedFile>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub container_file_citation: Option<CitedFile>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub file_path: Option<CitedFile>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub file: Option<CitedFile>,
    #[serde(deserialize_with = "default_if_invalid")]
    pub document_title: String,
}

/// A cited file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CitedFile {
    #[serde(alias = "name", deserialize_with = "default_if_invalid")]
    pub filename: String,
    #[serde(deserialize_with = "default_if_invalid")]
    pub file_id: String,
}

/// The text fields of an entry of `reasoning_details` or `thinking_blocks`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ReasoningDetail {
    #[serde(deserialize_with = "ignore_invalid")]
    pub text: Option<String>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub summary: Option<String>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub thinking: Option<String>,
}

/// A fragment of a tool call. Only the first one needs an id and a name.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ToolCallFragment {
    #[serde(deserialize_with = "ignore_invalid")]
    pub index: Option<u64>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub id: Option<String>,
    #[serde(deserialize_with = "null_as_default")]
    pub function: Function,
    /// Gemini: the signature of the thoughts that led to the call. It expects it back.
    pub extra_content: Option<RawJson>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Function {
    #[serde(deserialize_with = "ignore_invalid")]
    pub name: Option<String>,
    /// A string of JSON, or from some servers the JSON itself.
    pub arguments: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Usage {
    #[serde(deserialize_with = "default_if_invalid")]
    pub prompt_tokens: u64,
    #[serde(deserialize_with = "default_if_invalid")]
    pub completion_tokens: u64,
    #[serde(deserialize_with = "default_if_invalid")]
    pub total_tokens: u64,
    /// OpenRouter: the cost in US dollars.
    #[serde(deserialize_with = "ignore_invalid")]
    pub cost: Option<f64>,
    #[serde(deserialize_with = "default_if_invalid")]
    pub prompt_tokens_details: InputTokens,
    #[serde(deserialize_with = "default_if_invalid")]
    pub completion_tokens_details: OutputTokens,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct InputTokens {
    #[serde(deserialize_with = "default_if_invalid")]
    pub cached_tokens: u64,
    /// OpenRouter.
    #[serde(deserialize_with = "default_if_invalid")]
    pub cache_write_tokens: u64,
    #[serde(deserialize_with = "default_if_invalid")]
    pub image_tokens: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct OutputTokens {
    #[serde(deserialize_with = "default_if_invalid")]
    pub reasoning_tokens: u64,
    #[serde(deserialize_with = "default_if_invalid")]
    pub image_tokens: u64,
}

impl Usage {
    /// Returns the tokens of the whole output. xAI does not count the thinking in `completion_tokens`, but in the total.
    pub fn output_tokens(&self) -> u64 {
        let thinking = self.completion_tokens_details.reasoning_tokens;
        let with_thinking = self.completion_tokens.saturating_add(thinking);
        match self.total_tokens == self.prompt_tokens.saturating_add(with_thinking) {
            true => with_thinking,
            false => self.completion_tokens,
        }
    }
}
