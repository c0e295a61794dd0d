//! The order of the blocks of an answer. Providers that sign their thinking expect it back at the place where
//! it stood, between the texts and the calls.
//!
//! Parlor stores texts and calls by itself. A [`LayoutRecorder`] makes [`ProviderData`] of the blocks that only
//! the provider understands, with the texts (their lengths and ends) and the calls before each.
//! [`arrange_blocks`] puts them back. The text may have changed since: metadata before it belong to its first part, and one from
//! which control text was removed is kept whole, at the place of the first text.

mod arrange;

use std::collections::VecDeque;

use serde_json::json;

pub use self::arrange::{AnswerBlock, arrange_blocks};
use super::think_tags::ThinkFilter;
use parlor_model::{ModelEvent, ProviderDataTarget, UnreadableContent};
use parlor_protocol::{ProviderData, RawJson};

/// The field of the data.
const FIELD: &str = "blocks";

/// The entry for a call.
const CALL: &str = "call";

/// Separates a text from the text before it.
const PARAGRAPH_GAP: &str = "\n\n";

/// The maximum size of a provider's block, in bytes. A larger one is dropped and reported.
const MAX_BLOCK_BYTES: usize = 4 << 20;

/// The maximum number of bytes of a text's end in a layout.
const MAX_END_BYTES: usize = 32;

/// Separates thinking from text, and records the order of one answer's blocks.
#[derive(Debug)]
pub struct LayoutRecorder {
    kind: &'static str,
    think_filter: ThinkFilter,
    /// The texts and calls since the last block of the provider, and what waits for an open block.
    pending: Vec<PendingEntry>,
    /// The number of places that were kept for blocks.
    places: usize,
    /// True if the last thing that is shown is a text.
    is_after_text: bool,
    /// True if the next text is a paragraph of its own.
    begins_paragraph: bool,
}

#[derive(Debug)]
enum PendingEntry {
    /// A text: its length, and its last bytes.
    Text {
        bytes: usize,
        end: String,
    },
    Call,
    /// A block that has begun and not ended.
    Open(BlockPlace),
    /// A block behind an open one.
    Block(RawJson),
}

/// The place of a block that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockPlace(usize);

impl PendingEntry {
    fn new_text() -> Self {
        Self::Text {
            bytes: 0,
            end: String::new(),
        }
    }

    /// Returns the entry in the form of a layout; `None` if nothing came at the place.
    fn to_json(&self) -> Option<String> {
        match self {
            Self::Text { bytes, end } => Some(json!([bytes, end]).to_string()),
            Self::Call => Some(json!(CALL).to_string()),
            Self::Open(_) => None,
            Self::Block(raw) => Some(raw.as_str().to_owned()),
        }
    }
}

impl LayoutRecorder {
    pub fn new(kind: &'static str) -> Self {
        Self {
            kind,
            think_filter: ThinkFilter::default(),
            pending: Vec::new(),
            places: 0,
            is_after_text: false,
            begins_paragraph: false,
        }
    }

    /// Adds text, which may have thinking in tags.
    pub fn push_text(&mut self, text: &str, events: &mut VecDeque<ModelEvent>) {
        let mut filtered = Vec::new();
        self.think_filter.push(text, &mut filtered);
        self.record(filtered, events);
    }

    /// Adds thinking that came by itself.
    pub fn push_thinking(&mut self, text: &str, events: &mut VecDeque<ModelEvent>) {
        if !text.is_empty() {
            self.end_part();
            self.think_filter.set_separate_thinking();
            events.push_back(ModelEvent::Thinking(text.to_owned()));
        }
    }

    /// Releases held text, before anything else or at the end.
    pub fn flush(&mut self, events: &mut VecDeque<ModelEvent>) {
        let mut filtered = Vec::new();
        self.think_filter.finish(&mut filtered);
        self.record(filtered, events);
    }

    /// Separates the next text from the text before.
    pub fn split_text(&mut self, events: &mut VecDeque<ModelEvent>) {
        self.flush(events);
        self.pending.push(PendingEntry::new_text());
    }

    /// Separates the next text from a text directly before it: something that is not shown stands between them.
    pub fn end_paragraph(&mut self, events: &mut VecDeque<ModelEvent>) {
        self.flush(events);
        self.begins_paragraph = self.is_after_text;
    }

    /// Separates the text of the next model call, which continues this answer, from a text that has ended.
    pub fn separate_continuation(&mut self, events: &mut VecDeque<ModelEvent>) {
        self.flush(events);
        self.push_gap(events);
    }

    /// Records a call.
    pub fn push_call(&mut self, events: &mut VecDeque<ModelEvent>) {
        self.flush(events);
        self.end_part();
        self.pending.push(PendingEntry::Call);
    }

    /// Keeps the place of a block that has begun. What follows may end before it.
    pub fn open_block(&mut self, events: &mut VecDeque<ModelEvent>) -> BlockPlace {
        self.flush(events);
        self.places += 1;
        let place = BlockPlace(self.places);
        self.pending.push(PendingEntry::Open(place));
        place
    }

    /// Stores a block of the provider at the place that was kept for it; at the end, if there is none.
    pub fn close_block(
        &mut self,
        place: Option<BlockPlace>,
        raw: &RawJson,
        events: &mut VecDeque<ModelEvent>,
    ) {
        let is_it = |entry: &PendingEntry| {
            place.is_some_and(|place| matches!(entry, PendingEntry::Open(open) if *open == place))
        };
        self.flush(events);
        let at = self.pending.iter().position(is_it);
        if !is_kept(raw, events) {
            return;
        }
        match at {
            Some(at) => self.pending[at] = PendingEntry::Block(raw.clone()),
            None => self.pending.push(PendingEntry::Block(raw.clone())),
        }
        self.emit(events);
    }

    /// Gives up the place of a block that is not kept.
    pub fn give_up_block(&mut self, place: BlockPlace, events: &mut VecDeque<ModelEvent>) {
        self.pending
            .retain(|entry| !matches!(entry, PendingEntry::Open(open) if *open == place));
        self.emit(events);
    }

    /// Gives up the places of blocks that did not end.
    pub fn close(&mut self, events: &mut VecDeque<ModelEvent>) {
        self.flush(events);
        self.pending
            .retain(|entry| !matches!(entry, PendingEntry::Open(_)));
        self.emit(events);
    }

    /// Stores a block of the provider.
    pub fn push_block(&mut self, raw: &RawJson, events: &mut VecDeque<ModelEvent>) {
        self.close_block(None, raw, events);
    }

    /// Emits the blocks that wait for no open one, with what precedes them.
    fn emit(&mut self, events: &mut VecDeque<ModelEvent>) {
        let is_open = |entry: &PendingEntry| matches!(entry, PendingEntry::Open(_));
        let end = self
            .pending
            .iter()
            .position(is_open)
            .unwrap_or(self.pending.len());
        let is_block = |entry: &PendingEntry| matches!(entry, PendingEntry::Block(_));
        let Some(last) = self.pending[..end].iter().rposition(is_block) else {
            return;
        };
        let entries: Vec<String> = self
            .pending
            .drain(..=last)
            .filter_map(|entry| entry.to_json())
            .collect();
        let data = ProviderData {
            kind: self.kind.into(),
            field: FIELD.into(),
            value: RawJson::parse_or_quote(&format!("[{}]", entries.join(","))),
        };
        let target = ProviderDataTarget::Answer;
        events.push_back(ModelEvent::ProviderData { target, data });
    }

    fn record(&mut self, filtered: Vec<ModelEvent>, events: &mut VecDeque<ModelEvent>) {
        for event in filtered {
            match &event {
                ModelEvent::Text(text) => {
                    if !text.starts_with(PARAGRAPH_GAP) {
                        self.push_gap(events);
                    }
                    self.begins_paragraph = false;
                    self.is_after_text |= !text.trim().is_empty();
                    self.record_text(text);
                }
                ModelEvent::TextWasThinking => {
                    self.pending
                        .retain(|entry| !matches!(entry, PendingEntry::Text { .. }));
                    self.end_part();
                }
                _ => self.end_part(),
            }
            events.push_back(event);
        }
    }

    /// Emits the gap before a paragraph, as a text of its own: it is not part of what the provider sent.
    fn push_gap(&mut self, events: &mut VecDeque<ModelEvent>) {
        if std::mem::take(&mut self.begins_paragraph) {
            self.pending.push(PendingEntry::new_text());
            self.record_text(PARAGRAPH_GAP);
            events.push_back(ModelEvent::Text(PARAGRAPH_GAP.into()));
            self.pending.push(PendingEntry::new_text());
        }
    }

    /// Ends a text: what follows it is shown apart from it.
    fn end_part(&mut self) {
        (self.is_after_text, self.begins_paragraph) = (false, false);
    }

    fn record_text(&mut self, text: &str) {
        match self.pending.last_mut() {
            Some(PendingEntry::Text { bytes, end }) => {
                *bytes += text.len();
                end.push_str(text_end(text));
                *end = text_end(end).to_owned();
            }
            _ => self.pending.push(PendingEntry::Text {
                bytes: text.len(),
                end: text_end(text).to_owned(),
            }),
        }
    }
}

/// Returns true if a block is kept. A larger one is reported.
fn is_kept(raw: &RawJson, events: &mut VecDeque<ModelEvent>) -> bool {
    let bytes = raw.as_str().len();
    if bytes > MAX_BLOCK_BYTES {
        events.push_back(ModelEvent::Unreadable {
            what: UnreadableContent::TooLarge(format!("a block of {bytes} bytes, more than is kept")),
            raw: String::new(),
        });
    }
    bytes <= MAX_BLOCK_BYTES
}

/// Returns the last bytes of a text.
fn text_end(text: &str) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(MAX_END_BYTES))..]
}

#[cfg(test)]
mod tests;
