//! The chunks of a streamed chat completion, as real servers send them.
//!
//! These types replace async-openai's, which drop reasoning and reject arrays of typed parts. They accept the
//! variations of this protocol's many servers (nulls, missing fields, several fields for thinking) and ignore
//! the rest.

use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value};

use crate::{
    protocol::RawJson,
    providers::lenient::{default_if_invalid, ignore_invalid, null_as_default},
};

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
    /// Perplexity: the same with titles.
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

/// A web page.
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
    pub delta: Option<Delta>,
    /// Replaces `delta` in an answer that is not streamed, and in some servers' chunks.
    pub message: Option<Delta>,
    /// Replaces both in answers of the older completions.
    #[serde(deserialize_with = "ignore_invalid")]
    pub text: Option<String>,
    #[serde(deserialize_with = "ignore_invalid")]
    pub finish_reason: Option<String>,
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

impl From<Citation> for CitedPage {
    fn from(citation: Citation) -> Self {
        match citation {
            Citation::Url(url) => Self { title: None, url },
            Citation::Page(page) => page,
            // It keeps its number.
            Citation::Other(_) => Self::default(),
        }
    }
}

impl Annotation {
    /// Returns the cited page, in either form.
    pub fn into_page(self) -> Option<CitedPage> {
        let is_citation = self.kind.as_deref() == Some("url_citation");
        let flat = self.url.filter(|_| is_citation).map(|url| CitedPage {
            title: self.title,
            url,
        });
        self.url_citation.or(flat)
    }
}

impl Choice {
    /// Takes the new content. A message in addition to deltas (Perplexity) repeats them and adds nothing.
    pub fn take_delta(&mut self, had_deltas: bool) -> Delta {
        let delta = self.delta.take().unwrap_or_default();
        if had_deltas || !delta.is_empty() {
            return delta;
        }
        if let Some(message) = self.message.take_if(|message| !message.is_empty()) {
            return message;
        }
        match self.text.take().filter(|text| !text.is_empty()) {
            Some(text) => Delta {
                content: Some(Content::Text(text)),
                ..delta
            },
            None => delta,
        }
    }

    /// Returns true if the choice has no content and no finish reason.
    pub fn is_empty(&self) -> bool {
        let is_silent = |delta: &Option<Delta>| delta.as_ref().is_none_or(Delta::is_empty);
        let has_text = self.text.as_ref().is_some_and(|text| !text.is_empty());
        self.finish_reason.is_none() && !has_text && is_silent(&self.delta) && is_silent(&self.message)
    }
}

impl Delta {
    /// Returns true if the delta has no known content.
    pub fn is_empty(&self) -> bool {
        let Self {
            content,
            reasoning_content,
            reasoning,
            reasoning_text,
            thinking,
            reasoning_details,
            thinking_blocks,
            refusal,
            tool_calls,
            function_call,
            images,
            audio,
            annotations,
            extra_content,
        } = self;
        let is_empty = |text: &Option<String>| text.as_ref().is_none_or(String::is_empty);
        let has_content = match content {
            Some(Content::Text(text)) => !text.is_empty(),
            Some(Content::Parts(parts)) => parts.iter().any(ContentPart::is_known),
            Some(Content::Part(part)) => part.is_known(),
            Some(Content::Other(_)) | None => false,
        };
        let has_thinking = match thinking {
            Some(ThinkingField::Text(text)) => !text.is_empty(),
            Some(ThinkingField::Parts(_) | ThinkingField::Part(_)) => true,
            Some(ThinkingField::Other(_)) | None => false,
        };
        !has_content
            && !has_thinking
            && [reasoning_content, reasoning, reasoning_text, refusal]
                .into_iter()
                .all(is_empty)
            && [reasoning_details, thinking_blocks, images, extra_content]
                .iter()
                .all(|json| json.is_none())
            && tool_calls.is_empty()
            && function_call.is_none()
            && audio.is_none()
            && annotations.is_none()
    }

    /// Takes the reasoning of this delta. Servers send the same text in several fields, so only one is used.
    pub fn take_reasoning(&mut self) -> Option<String> {
        let thinking = self.thinking.take().map(ThinkingField::into_text);
        let texts = [
            self.reasoning_content.take(),
            self.reasoning.take(),
            self.reasoning_text.take(),
            thinking,
        ];
        let mut texts = texts.into_iter().flatten();
        texts.find(|text| !text.is_empty()).or_else(|| {
            let lists = [&self.reasoning_details, &self.thinking_blocks];
            lists
                .into_iter()
                .flatten()
                .map(detail_text)
                .find(|text| !text.is_empty())
        })
    }
}

/// Returns the text of a list of details.
fn detail_text(list: &RawJson) -> String {
    let details: Vec<ReasoningDetail> = serde_json::from_str(list.as_str()).unwrap_or_default();
    let texts = details
        .into_iter()
        .filter_map(|detail| detail.text.or(detail.summary).or(detail.thinking));
    texts.collect()
}

impl ContentPart {
    fn is_known(&self) -> bool {
        match self {
            Self::Text(_) => true,
            Self::Part(part) => part.is_known(),
            Self::Other(_) => false,
        }
    }

    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Part(part) => part.into_text(),
            Self::Other(_) => String::new(),
        }
    }
}

impl TypedPart {
    fn is_known(&self) -> bool {
        let is_there = self.text.is_some() || self.thinking.is_some() || self.refusal.is_some();
        is_there || self.is_image()
    }

    pub fn is_image(&self) -> bool {
        self.others.contains_key("image_url")
            || self.kind.as_deref().is_some_and(|kind| kind.contains("image"))
    }

    /// Returns true for a part with thinking.
    pub fn is_thinking(&self) -> bool {
        matches!(
            self.kind.as_deref(),
            Some("thinking" | "reasoning" | "reasoning_text")
        )
    }

    fn into_text(self) -> String {
        let thinking = self.thinking.map(ThinkingField::into_text);
        self.text.or(thinking).unwrap_or_default()
    }
}

impl ThinkingField {
    pub fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Parts(parts) => parts.into_iter().map(ContentPart::into_text).collect(),
            Self::Part(part) => part.into_text(),
            Self::Other(_) => String::new(),
        }
    }
}

impl Function {
    /// Takes this fragment's arguments as text.
    pub fn take_arguments(&mut self) -> String {
        match self.arguments.take() {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            Some(json) => json.to_string(),
        }
    }
}
