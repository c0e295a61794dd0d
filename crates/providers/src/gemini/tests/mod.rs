//! Streams and requests of the Gemini API.

mod recorded;
mod requests;
mod shapes;
mod sources;
mod streams;

use serde_json::{Value, json};

use super::{PROVIDER_KIND, decoder::ContentDecoder};
use crate::transport::{
    decoder::DecodeError,
    testing::{self, arguments, call, check_chunkings, decode_cut, unreadable, usage},
};
use parlor_model::{
    FinishReason,
    ModelEvent::{self, Finished, Refusal, Text, Thinking},
    ProviderDataTarget, UnreadableContent,
};
use parlor_protocol::CitedSource;

fn decode(bytes: &[u8]) -> (Vec<ModelEvent>, Option<DecodeError>) {
    testing::decode(ContentDecoder::default(), [bytes])
}

fn decode_chunks(chunks: &[Value]) -> (Vec<ModelEvent>, Option<DecodeError>) {
    testing::decode_events(ContentDecoder::default(), chunks)
}

fn provider_data(target: ProviderDataTarget, field: &str, value: &Value) -> ModelEvent {
    provider_data_text(target, field, &value.to_string())
}

fn provider_data_text(target: ProviderDataTarget, field: &str, value: &str) -> ModelEvent {
    testing::provider_data(PROVIDER_KIND, target, field, value)
}

/// Returns a chunk with this content.
fn chunk(content: Value) -> Value {
    json!({ "candidates": [{ "content": content, "index": 0 }] })
}

fn end(reason: &str) -> Value {
    json!({ "candidates": [{ "finishReason": reason }] })
}

const STOP: ModelEvent = Finished(FinishReason::Stop);
