//! Streams and requests of the Messages API.

mod kept;
mod recorded;
mod requests;
mod shapes;
mod streams;

use serde_json::{Value, json};

use super::{PROVIDER_KIND, decoder::MessageDecoder};
use crate::transport::{
    decoder::DecodeError,
    testing::{self, arguments, call, check_chunkings, decode_cut, unreadable},
};
use parlor_model::{
    FinishReason,
    ModelEvent::{self, Finished, Text, Thinking, ToolArguments},
    ProviderDataTarget, ReportedUsage, UnreadableContent,
};

fn decode(bytes: &[u8]) -> (Vec<ModelEvent>, Option<DecodeError>) {
    testing::decode(MessageDecoder::default(), [bytes])
}

/// Decodes these events.
fn decode_events(events: &[Value]) -> (Vec<ModelEvent>, Option<DecodeError>) {
    testing::decode_events(MessageDecoder::default(), events)
}

fn usage(input_tokens: u64, output_tokens: u64) -> ModelEvent {
    testing::usage(input_tokens, output_tokens, 0)
}

/// Returns the event of these provider blocks, with the texts and calls before them.
fn blocks(value: &Value) -> ModelEvent {
    testing::provider_data(
        PROVIDER_KIND,
        ProviderDataTarget::Answer,
        "blocks",
        &value.to_string(),
    )
}

fn start(index: u64, block: Value) -> Value {
    json!({ "type": "content_block_start", "index": index, "content_block": block })
}

fn delta(index: u64, delta: Value) -> Value {
    json!({ "type": "content_block_delta", "index": index, "delta": delta })
}

fn stop(index: u64) -> Value {
    json!({ "type": "content_block_stop", "index": index })
}

fn message_start() -> Value {
    let usage = json!({ "input_tokens": 10, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 200, "output_tokens": 1 });
    json!({ "type": "message_start", "message": { "usage": usage } })
}

fn message_end(reason: &str) -> [Value; 2] {
    let end = json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 7 } });
    [end, json!({ "type": "message_stop" })]
}
