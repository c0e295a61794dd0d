//! The order of the blocks of an answer. Providers that sign their thinking expect it back at the place where
//! it stood, between the texts and the calls.
//!
//! Parlor stores texts and calls by itself. A [`LayoutRecorder`] makes [`Opaque`] data of the blocks that only
//! the provider understands, with the number of text bytes and of calls before each. [`arrange_blocks`] puts
//! them back. The text may have changed since, since control text is removed from it: then it is kept whole.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    model::{ModelEvent, OpaqueTarget, UnreadableContent},
    protocol::{Opaque, RawJson},
};

/// The field of the data.
const FIELD: &str = "blocks";

/// The entry for a call.
const CALL: &str = "call";

/// The maximum number of bytes of one block. Others are limited by the settings.
const MAX_BLOCK_BYTES: usize = 4 << 20;

/// Records the order of one answer's blocks.
#[derive(Debug)]
pub struct LayoutRecorder {
    kind: &'static str,
    /// The texts and calls since the last block of the provider.
    pending: Vec<Value>,
}

impl LayoutRecorder {
    pub fn new(kind: &'static str) -> Self {
        Self {
            kind,
            pending: Vec::new(),
        }
    }

    /// Records text.
    pub fn push_text(&mut self, text: &str) {
        match self.pending.last_mut() {
            Some(Value::Number(bytes)) => {
                *bytes = (bytes.as_u64().unwrap_or(0) + text.len() as u64).into();
            }
            _ if text.is_empty() => {}
            _ => self.pending.push(json!(text.len())),
        }
    }

    /// Separates the next text from the text before.
    pub fn split_text(&mut self) {
        self.pending.push(json!(0));
    }

    /// Records a call.
    pub fn push_call(&mut self) {
        self.pending.push(json!(CALL));
    }

    /// Returns the event that stores a block of the provider.
    pub fn block_event(&mut self, raw: &RawJson) -> ModelEvent {
        if raw.as_str().len() > MAX_BLOCK_BYTES {
            let what = format!("a block of {} bytes, more than is kept", raw.as_str().len());
            return ModelEvent::Unreadable {
                what: UnreadableContent::TooLarge(what),
                raw: String::new(),
            };
        }
        let entries = self.pending.drain(..).map(|entry| entry.to_string());
        let entries: Vec<String> = entries.chain([raw.as_str().to_owned()]).collect();
        let data = Opaque {
            kind: self.kind.into(),
            field: FIELD.into(),
            value: RawJson::parse_or_quote(&format!("[{}]", entries.join(","))),
        };
        let beside = OpaqueTarget::Answer;
        ModelEvent::Opaque { beside, data }
    }
}

/// A block of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Block<'a> {
    Text(&'a str),
    /// The call with this index.
    Call(usize),
    /// A block of the provider, unchanged.
    Provider(RawJson),
}

/// An entry of a recorded layout.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Entry {
    Text(usize),
    Mark(String),
}

/// Returns the blocks of an answer in their order: its text, its calls and the provider's blocks in `opaque`,
/// as far as they belong to this kind of provider.
pub fn arrange_blocks<'a>(text: &'a str, calls: usize, opaque: &[Opaque], kind: &str) -> Vec<Block<'a>> {
    let is_own = |data: &&Opaque| data.kind == kind && data.field == FIELD;
    let entries: Vec<RawJson> = opaque
        .iter()
        .filter(is_own)
        // Data that may be shown are replaced by a string.
        .filter_map(|data| serde_json::from_str::<Vec<RawJson>>(data.value.as_str()).ok())
        .flatten()
        .collect();
    let lengths = entries.iter().filter_map(|entry| match parse_entry(entry) {
        Some(Entry::Text(bytes)) => Some(bytes),
        _ => None,
    });
    let ends = lengths.scan(0_usize, |end, bytes| {
        *end = end.saturating_add(bytes);
        Some(*end)
    });
    // Otherwise the text is not the one that was recorded.
    let is_divisible = ends.clone().all(|end| text.is_char_boundary(end));
    let (mut rest, mut calls) = (text, 0..calls);
    let mut blocks = Vec::with_capacity(entries.len() + calls.len() + 1);
    for entry in &entries {
        match parse_entry(entry) {
            Some(Entry::Text(bytes)) if is_divisible => {
                let (part, tail) = rest.split_at(bytes);
                rest = tail;
                blocks.push(Block::Text(part));
            }
            Some(Entry::Text(_)) => {}
            Some(Entry::Mark(mark)) if mark == CALL => blocks.extend(calls.next().map(Block::Call)),
            Some(Entry::Mark(_)) => {}
            None => blocks.push(Block::Provider(entry.clone())),
        }
    }
    if !rest.is_empty() {
        // Before the calls, which end an answer.
        let first_call = blocks.iter().position(|block| matches!(block, Block::Call(_)));
        let at = match is_divisible {
            true => blocks.len(),
            false => first_call.unwrap_or(blocks.len()),
        };
        blocks.insert(at, Block::Text(rest));
    }
    blocks.extend(calls.map(Block::Call));
    blocks
}

fn parse_entry(entry: &RawJson) -> Option<Entry> {
    serde_json::from_str(entry.as_str()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: &str = "test";

    fn raw(text: &str) -> RawJson {
        RawJson::parse_or_quote(text)
    }

    fn data(event: ModelEvent) -> Opaque {
        match event {
            ModelEvent::Opaque { data, .. } => data,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the data of: thinking, text, thinking, a call, thinking, a call.
    fn recorded() -> Vec<Opaque> {
        let mut layout = LayoutRecorder::new(KIND);
        let mut opaque = vec![data(layout.block_event(&raw("{\"a\": 1}")))];
        layout.push_text("O");
        layout.push_text("ne");
        opaque.push(data(layout.block_event(&raw("{\"b\":2}"))));
        layout.push_call();
        opaque.push(data(layout.block_event(&raw("{\"c\":3}"))));
        layout.push_call();
        opaque
    }

    #[test]
    fn restores_the_order_of_blocks() {
        let block = |text: &str| Block::Provider(raw(text));
        assert_eq!(
            arrange_blocks("OneTwo", 3, &recorded(), KIND),
            [
                block("{\"a\": 1}"),
                Block::Text("One"),
                block("{\"b\":2}"),
                Block::Call(0),
                block("{\"c\":3}"),
                Block::Text("Two"),
                Block::Call(1),
                Block::Call(2),
            ]
        );
    }

    #[test]
    fn keeps_changed_text_whole() {
        for text in ["é", ""] {
            let blocks = arrange_blocks(text, 1, &recorded(), KIND);
            let texts: String = blocks
                .iter()
                .filter_map(|block| match block {
                    Block::Text(text) => Some(*text),
                    _ => None,
                })
                .collect();
            assert_eq!(texts, text);
            let calls = blocks.iter().filter(|block| matches!(block, Block::Call(0)));
            assert_eq!(calls.count(), 1);
        }
    }

    #[test]
    fn ignores_data_of_others() {
        let expected = [Block::Text("One"), Block::Call(0)];
        assert_eq!(arrange_blocks("One", 1, &recorded(), "other"), expected);
        let shown = Opaque {
            kind: KIND.into(),
            field: FIELD.into(),
            value: raw("(for the provider alone: 12 bytes)"),
        };
        assert_eq!(arrange_blocks("One", 1, &[shown], KIND), expected);
    }
}
