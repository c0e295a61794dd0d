//! The decoder with streams in arbitrary pieces.

mod recorded;
mod shapes;
mod synthetic;

use std::collections::VecDeque;

use super::decoder::{DecodeError, Decoder};
use crate::{
    model::ModelEvent::{self, Text, Thinking, ToolArguments},
    providers::DEFAULT_MAX_FRAME_BYTES,
};

/// Decodes these pieces. Adjacent deltas are joined.
fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<ModelEvent>, Option<DecodeError>) {
    let mut decoder = Decoder::new(DEFAULT_MAX_FRAME_BYTES);
    let mut events = VecDeque::new();
    let mut result = Ok(());
    for piece in pieces {
        result = result.and_then(|()| decoder.push(piece, &mut events));
    }
    result = result.and_then(|()| decoder.end(&mut events));
    (merge_deltas(events), result.err())
}

fn merge_deltas(events: impl IntoIterator<Item = ModelEvent>) -> Vec<ModelEvent> {
    let mut merged: Vec<ModelEvent> = Vec::new();
    for event in events {
        match (merged.last_mut(), event) {
            (Some(Text(text)), Text(more)) | (Some(Thinking(text)), Thinking(more)) => text.push_str(&more),
            (
                Some(ToolArguments { index, delta }),
                ToolArguments {
                    index: same,
                    delta: more,
                },
            ) if *index == same => {
                delta.push_str(&more);
            }
            (_, event) => merged.push(event),
        }
    }
    merged
}
