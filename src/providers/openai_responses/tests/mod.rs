//! Streams and requests of the Responses API.

mod recorded;
mod requests;
mod shapes;
mod streams;

use serde_json::{Value, json};

use super::{PROVIDER_KIND, decoder::ResponseDecoder};
use crate::{
    model::{
        FinishReason,
        ModelEvent::{self, Finished, Text, Thinking, ToolArguments},
        OpaqueTarget, UnreadableContent, Usage,
    },
    protocol::{Opaque, RawJson},
    providers::transport::{
        decoder::DecodeError,
        testing::{self, check_chunkings, decode_cut, recorded_events, stream_of},
    },
};

fn decode(bytes: &[u8]) -> (Vec<ModelEvent>, Option<DecodeError>) {
    testing::decode(ResponseDecoder::default(), [bytes])
}

fn decode_events(events: &[Value]) -> (Vec<ModelEvent>, Option<DecodeError>) {
    let events: Vec<String> = events.iter().map(Value::to_string).collect();
    decode(&stream_of(&events, "\n"))
}

fn usage(input_tokens: u64, output_tokens: u64, thinking_tokens: u64) -> ModelEvent {
    ModelEvent::Usage(Usage {
        input_tokens,
        output_tokens,
        thinking_tokens,
        ..Usage::default()
    })
}

fn blocks(value: &str) -> ModelEvent {
    let data = Opaque {
        kind: PROVIDER_KIND.into(),
        field: "blocks".into(),
        value: RawJson::parse_or_quote(value),
    };
    let beside = OpaqueTarget::Answer;
    ModelEvent::Opaque { beside, data }
}

fn call(index: usize, id: &str, name: &str) -> ModelEvent {
    let (id, name) = (id.into(), name.into());
    ModelEvent::ToolCall { index, id, name }
}

fn arguments(index: usize, delta: &str) -> ModelEvent {
    let delta = delta.into();
    ToolArguments { index, delta }
}

fn delta(kind: &str, index: u64, delta: &str) -> Value {
    json!({ "type": format!("response.{kind}.delta"), "output_index": index, "delta": delta })
}

fn done(index: u64, item: Value) -> Value {
    json!({ "type": "response.output_item.done", "output_index": index, "item": item })
}

fn end(kind: &str, mut response: Value) -> Value {
    response["status"] = json!(kind);
    json!({ "type": format!("response.{kind}"), "response": response })
}

const STOP: ModelEvent = Finished(FinishReason::Stop);
const TOOL_CALLS: ModelEvent = Finished(FinishReason::ToolCalls);
