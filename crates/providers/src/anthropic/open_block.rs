//! The blocks of a message that have begun and not ended.

use serde_json::{Map, Value};

use parlor_model::lenient_json;
use parlor_protocol::RawJson;

/// The part of a block that has arrived.
#[derive(Debug)]
pub enum OpenBlock {
    Text,
    /// The whole thinking text and its signature.
    Thinking {
        text: String,
        signature: String,
    },
    /// The index of the call. `input` is the whole input, if the block began with it.
    Call {
        index: usize,
        input: Option<String>,
        has_arguments: bool,
    },
    /// A block that only the server understands. `input` is the JSON of its input, `content` its text.
    Provider {
        raw: RawJson,
        input: String,
        content: String,
    },
    Other,
}

/// Returns a block with the input that came in deltas.
pub fn with_input(raw: RawJson, input: &str) -> RawJson {
    let block = lenient_json::parse::<Map<String, Value>>(raw.as_str()).ok();
    match block.zip(lenient_json::parse::<Value>(input).ok()) {
        Some((mut block, input)) => {
            block.insert("input".into(), input);
            RawJson::parse_or_quote(&Value::Object(block).to_string())
        }
        None => raw,
    }
}

/// Returns a block with the text that came in deltas.
pub fn with_content(raw: RawJson, content: String) -> RawJson {
    let block = serde_json::from_str::<Map<String, Value>>(raw.as_str()).ok();
    match block.filter(|_| !content.is_empty()) {
        Some(mut block) => {
            block.insert("content".into(), content.into());
            RawJson::parse_or_quote(&Value::Object(block).to_string())
        }
        None => raw,
    }
}
