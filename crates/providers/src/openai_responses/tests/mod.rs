//! Streams and requests of the Responses API.

mod recorded;
mod requests;
mod shapes;
mod sources;
mod streams;

use serde_json::{Value, json};

use super::{PROVIDER_KIND, decoder::ResponseDecoder};
use crate::transport::{
    decoder::DecodeError,
    testing::{
        self, arguments, call, check_chunkings, decode_cut, recorded_events, stream_of, unreadable, usage,
    },
};
use parlor_model::{
    FinishReason,
    ModelEvent::{self, Finished, Text, Thinking, ToolArguments},
    ProviderDataTarget, UnreadableContent,
};

fn decode(bytes: &[u8]) -> (Vec<ModelEvent>, Option<DecodeError>) {
    testing::decode(ResponseDecoder::default(), [bytes])
}

fn decode_events(events: &[Value]) -> (Vec<ModelEvent>, Option<DecodeError>) {
    testing::decode_events(ResponseDecoder::default(), events)
}

fn blocks(value: &str) -> ModelEvent {
    testing::provider_data(PROVIDER_KIND, ProviderDataTarget::Answer, "blocks", value)
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
