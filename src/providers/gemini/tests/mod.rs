//! Streams and requests of the Gemini API.

mod recorded;
mod requests;
mod shapes;
mod streams;

use serde_json::{Value, json};

use super::{PROVIDER_KIND, decoder::ContentDecoder};
use crate::{
    model::{
        FinishReason,
        ModelEvent::{self, Finished, Refusal, Text, Thinking, ToolArguments},
        OpaqueTarget, UnreadableContent, Usage,
    },
    protocol::{CitedSource, Opaque, RawJson},
    providers::transport::{
        decoder::DecodeError,
        testing::{self, check_chunkings, decode_cut, recorded_events, stream_of},
    },
};

fn decode(bytes: &[u8]) -> (Vec<ModelEvent>, Option<DecodeError>) {
    testing::decode(ContentDecoder::default(), [bytes])
}

fn decode_chunks(chunks: &[Value]) -> (Vec<ModelEvent>, Option<DecodeError>) {
    let chunks: Vec<String> = chunks.iter().map(Value::to_string).collect();
    decode(&stream_of(&chunks, "\n"))
}

fn usage(input_tokens: u64, output_tokens: u64, thinking_tokens: u64) -> ModelEvent {
    ModelEvent::Usage(Usage {
        input_tokens,
        output_tokens,
        thinking_tokens,
        ..Usage::default()
    })
}

fn call(index: usize, id: &str, name: &str) -> ModelEvent {
    let (id, name) = (id.into(), name.into());
    ModelEvent::ToolCall { index, id, name }
}

fn arguments(index: usize, delta: &str) -> ModelEvent {
    let delta = delta.into();
    ToolArguments { index, delta }
}

fn opaque(beside: OpaqueTarget, field: &str, value: &Value) -> ModelEvent {
    opaque_text(beside, field, &value.to_string())
}

fn opaque_text(beside: OpaqueTarget, field: &str, value: &str) -> ModelEvent {
    let data = Opaque {
        kind: PROVIDER_KIND.into(),
        field: field.into(),
        value: RawJson::parse_or_quote(value),
    };
    ModelEvent::Opaque { beside, data }
}

/// Returns a chunk with this content.
fn chunk(content: Value) -> Value {
    json!({ "candidates": [{ "content": content, "index": 0 }] })
}

fn end(reason: &str) -> Value {
    json!({ "candidates": [{ "finishReason": reason }] })
}

const STOP: ModelEvent = Finished(FinishReason::Stop);
