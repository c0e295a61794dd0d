//! The decoder with streams in arbitrary chunks.

mod citations;
mod faults;
mod recorded;
mod shapes;
mod synthetic;

use super::decoder::ChunkDecoder;
use crate::transport::{
    decoder::{DecodeError, Decoder},
    testing,
};
use parlor_model::ModelEvent;

/// Decodes these chunks. Adjacent deltas are joined.
fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (Vec<ModelEvent>, Option<DecodeError>) {
    testing::decode(ChunkDecoder::default(), chunks)
}
