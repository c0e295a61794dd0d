//! The items of a response that have begun, by their positions.

use std::collections::BTreeMap;

use super::wire::{OutputItem, StreamEvent};
use crate::answer_layout::BlockPlace;
use parlor_model::lenient_json;

/// The items that have begun.
#[derive(Debug, Default)]
pub struct ItemTable {
    items: BTreeMap<u64, ItemState>,
    /// The position of the last event, for servers that do not send it.
    position: u64,
}

/// The part of an item that has arrived.
#[derive(Debug, Default)]
pub struct ItemState {
    /// The server's id of the item; empty if it has none.
    pub id: String,
    /// The type; empty before the item itself has arrived.
    pub kind: String,
    /// The place of an item that goes back to the server.
    pub place: Option<BlockPlace>,
    /// The index of the call.
    pub call: Option<usize>,
    pub has_arguments: bool,
    pub has_text: bool,
    pub has_thinking: bool,
    pub is_done: bool,
}

impl ItemState {
    /// Returns true if this may be the beginning of an item.
    fn may_be(&self, item: &OutputItem) -> bool {
        let has_begun_as =
            |kind: &str, has_content: bool| self.kind.is_empty() && has_content && item.kind == kind;
        let is_same = self.kind == item.kind
            || has_begun_as("message", self.has_text)
            || has_begun_as("reasoning", self.has_thinking);
        !self.is_done && is_same
    }
}

impl ItemTable {
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn get(&self, position: u64) -> Option<&ItemState> {
        self.items.get(&position)
    }

    pub fn get_mut(&mut self, position: u64) -> Option<&mut ItemState> {
        self.items.get_mut(&position)
    }

    pub fn get_or_begin(&mut self, position: u64) -> &mut ItemState {
        self.items.entry(position).or_default()
    }

    pub fn insert(&mut self, position: u64, state: ItemState) {
        self.items.insert(position, state);
    }

    /// Returns the position of an event's item. Without it, the item is known by its id, or is the last one.
    pub fn locate(&mut self, event: &StreamEvent) -> u64 {
        let item: Option<OutputItem> = event
            .item
            .as_ref()
            .filter(|_| event.output_index.is_none())
            .and_then(|raw| lenient_json::parse(raw.as_str()).ok());
        let id = item.as_ref().map_or(event.item_id.as_str(), |item| &item.id);
        let by_id = || {
            let mut items = self.items.iter();
            let known = items.find(|(_, state)| !id.is_empty() && state.id == id);
            known.map(|(position, _)| *position)
        };
        let last = self.position;
        self.position = event.output_index.or_else(by_id).unwrap_or_else(|| {
            let is_last = match (&item, self.items.get(&last)) {
                (None, _) | (_, None) => true,
                (Some(item), Some(state)) => event.kind.ends_with(".done") && state.may_be(item),
            };
            let next = self.items.keys().next_back().map_or(0, |position| position + 1);
            if is_last { last } else { next }
        });
        self.position
    }
}
