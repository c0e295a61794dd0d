//! The chunks of a streamed chat completion, as servers really send them.
//!
//! Types of our own: async-openai's drop reasoning and refuse arrays of typed parts. They take what the many
//! servers of this protocol make of it (nulls, missing fields, several spellings of thinking) and ignore the rest.

use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;

/// One `data:` of the stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Chunk {
    /// Empty or missing in the chunks that only carry usage or a vendor's fields.
    #[serde(deserialize_with = "or_default")]
    pub choices: Vec<Choice>,
    #[serde(deserialize_with = "lenient")]
    pub usage: Option<Usage>,
    /// A server that fails after it has said 200 can say so only here.
    pub error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Choice {
    #[serde(deserialize_with = "or_default")]
    pub index: u64,
    #[serde(deserialize_with = "or_default")]
    pub delta: Delta,
    pub finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Delta {
    pub content: Option<Content>,
    /// DeepSeek, xAI, llama.cpp, vLLM.
    #[serde(deserialize_with = "lenient")]
    pub reasoning_content: Option<String>,
    /// Groq, OpenRouter, Ollama, newer vLLM.
    #[serde(deserialize_with = "lenient")]
    pub reasoning: Option<String>,
    /// OpenRouter, beside or instead of `reasoning`.
    #[serde(deserialize_with = "lenient")]
    pub reasoning_details: Option<Vec<ReasoningDetail>>,
    /// What OpenAI's models say instead of an answer that they refuse to give.
    #[serde(deserialize_with = "lenient")]
    pub refusal: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub tool_calls: Vec<ToolCall>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Content {
    Text(String),
    /// Mistral.
    Parts(Vec<ContentPart>),
    Other(serde::de::IgnoredAny),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ContentPart {
    #[serde(deserialize_with = "lenient")]
    pub text: Option<String>,
    pub thinking: Option<Thinking>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Thinking {
    Text(String),
    Parts(Vec<ContentPart>),
    Other(serde::de::IgnoredAny),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ReasoningDetail {
    #[serde(deserialize_with = "lenient")]
    pub text: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub summary: Option<String>,
}

/// A fragment of a tool call; only the first one has to have an id and a name.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ToolCall {
    #[serde(deserialize_with = "lenient")]
    pub index: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub id: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub function: Function,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Function {
    #[serde(deserialize_with = "lenient")]
    pub name: Option<String>,
    /// A string of JSON; from some servers the JSON itself.
    pub arguments: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Usage {
    #[serde(deserialize_with = "or_default")]
    pub prompt_tokens: u64,
    #[serde(deserialize_with = "or_default")]
    pub completion_tokens: u64,
    /// OpenRouter, in US dollars.
    #[serde(deserialize_with = "lenient")]
    pub cost: Option<f64>,
}

impl Delta {
    /// The reasoning of this delta. vLLM sends the same text under two names: only one is taken.
    pub fn take_reasoning(&mut self) -> Option<String> {
        let named = [self.reasoning_content.take(), self.reasoning.take()];
        named
            .into_iter()
            .flatten()
            .find(|text| !text.is_empty())
            .or_else(|| {
                let details = self.reasoning_details.take()?;
                let texts = details
                    .into_iter()
                    .filter_map(|detail| detail.text.or(detail.summary));
                Some(texts.collect::<String>()).filter(|text| !text.is_empty())
            })
    }
}

impl Function {
    /// This fragment's arguments, as text.
    pub fn take_arguments(&mut self) -> String {
        match self.arguments.take() {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            Some(json) => json.to_string(),
        }
    }
}

/// `null` is the same as nothing.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// A field that is no reason to give up the stream, whatever its type.
fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).ok())
}
