//! Lists and texts that grow at their end.
//!
//! With one signal for a whole list, each new item would cost as much as the list is long, because its view compares
//! all keys. So both are split into chunks with a signal each: new content touches the last chunk only.

use leptos::prelude::*;

use super::text_node::TextNode;
use crate::runtime::{each::Each, erase::Erase};

/// The number of items in a chunk of a list.
const MAX_CHUNK_ITEMS: usize = 64;

/// The length from which a chunk of text ends with its line.
const MIN_SEGMENT_BYTES: usize = 4096;

/// A list that mostly grows.
#[derive(Clone, Debug)]
pub struct GrowingList<T: Send + Sync + 'static> {
    /// All but the last have `MAX_CHUNK_ITEMS` items.
    chunks: ArcRwSignal<Vec<ListChunk<T>>>,
}

#[derive(Clone, Debug)]
struct ListChunk<T: Send + Sync + 'static> {
    key: u64,
    items: ArcRwSignal<Vec<T>>,
}

impl<T: Clone + Send + Sync + 'static> GrowingList<T> {
    pub fn new(items: Vec<T>) -> Self {
        let list = GrowingList {
            chunks: ArcRwSignal::new(Vec::new()),
        };
        list.splice(0, items);
        list
    }

    /// Returns a clone of the item at `index`. Not tracked.
    pub fn get(&self, index: usize) -> Option<T> {
        let chunk = self
            .chunks
            .with_untracked(|chunks| chunks.get(index / MAX_CHUNK_ITEMS).cloned())?;
        chunk
            .items
            .with_untracked(|items| items.get(index % MAX_CHUNK_ITEMS).cloned())
    }

    pub fn last(&self) -> Option<T> {
        let chunk = self.chunks.with_untracked(|chunks| chunks.last().cloned())?;
        chunk.items.with_untracked(|items| items.last().cloned())
    }

    /// All items. Tracked.
    pub fn items(&self) -> Vec<T> {
        let chunks = self.chunks.get();
        chunks.iter().flat_map(|chunk| chunk.items.get()).collect()
    }

    /// Returns true if there is no item. Tracked.
    pub fn is_empty(&self) -> bool {
        self.chunks.with(Vec::is_empty)
    }

    /// Calls `each` with every item, in order. Not tracked.
    pub fn for_each(&self, mut each: impl FnMut(&T)) {
        self.chunks.with_untracked(|chunks| {
            for chunk in chunks {
                chunk
                    .items
                    .with_untracked(|items| items.iter().for_each(&mut each));
            }
        });
    }

    pub fn set(&self, index: usize, item: T) {
        let chunk = self
            .chunks
            .with_untracked(|chunks| chunks.get(index / MAX_CHUNK_ITEMS).cloned());
        if let Some(chunk) = chunk {
            chunk.items.update(|items| {
                if let Some(old) = items.get_mut(index % MAX_CHUNK_ITEMS) {
                    *old = item;
                }
            });
        }
    }

    /// Replaces the items from index `from` on by `new`.
    pub fn splice(&self, from: usize, new: Vec<T>) {
        let mut new = new.into_iter();
        let at = from / MAX_CHUNK_ITEMS;
        let chunk = self.chunks.with_untracked(|chunks| chunks.get(at).cloned());
        let used = usize::from(chunk.is_some());
        if let Some(chunk) = chunk {
            chunk.items.update(|items| {
                items.truncate(from % MAX_CHUNK_ITEMS);
                let room = MAX_CHUNK_ITEMS - items.len();
                items.extend(new.by_ref().take(room));
            });
        }
        let mut chunks = Vec::new();
        loop {
            let items: Vec<T> = new.by_ref().take(MAX_CHUNK_ITEMS).collect();
            if items.is_empty() {
                break;
            }
            chunks.push(ListChunk {
                key: (at + used + chunks.len()) as u64,
                items: ArcRwSignal::new(items),
            });
        }
        let keep = at + used;
        if !chunks.is_empty() || self.chunks.with_untracked(|old| old.len() > keep) {
            self.chunks.update(|old| {
                old.truncate(keep);
                old.extend(chunks);
            });
        }
    }

    /// Shows the items. An item keeps its view as long as it has its key.
    pub fn view(
        &self,
        key: impl Fn(&T) -> u64 + Clone + Send + Sync + 'static,
        item: impl Fn(T) -> AnyView + Clone + Send + Sync + 'static,
    ) -> AnyView {
        let chunks = self.chunks.clone();
        let chunk = move |chunk: ListChunk<T>| {
            let items = chunk.items;
            let item = item.clone();
            view! { <Each of=move || items.get() key=key.clone() children=item/> }
        };
        view! { <Each of=move || chunks.get() key=|chunk| chunk.key children=chunk/> }.erase()
    }
}

/// A text that grows.
#[derive(Clone, Debug)]
pub struct GrowingText {
    /// Each but the last ends with a line.
    segments: GrowingList<TextSegment>,
}

#[derive(Clone, Debug)]
struct TextSegment {
    key: u64,
    text: ArcRwSignal<String>,
}

impl GrowingText {
    pub fn new(text: &str) -> Self {
        let whole = GrowingText {
            segments: GrowingList::new(Vec::new()),
        };
        whole.append(text);
        whole
    }

    pub fn append(&self, mut text: &str) {
        let last = self.segments.last();
        let mut key = last.as_ref().map_or(0, |segment| segment.key + 1);
        if let Some(segment) = last {
            let length = segment.text.with_untracked(String::len);
            let full =
                segment.text.with_untracked(|text| text.ends_with('\n')) && length >= MIN_SEGMENT_BYTES;
            if !full {
                let (more, rest) = text.split_at(segment_end(text, MIN_SEGMENT_BYTES.saturating_sub(length)));
                segment.text.update(|text| text.push_str(more));
                text = rest;
            }
        }
        let mut segments = Vec::new();
        let from = usize::try_from(key).unwrap_or(usize::MAX);
        while !text.is_empty() {
            let (segment, rest) = text.split_at(segment_end(text, MIN_SEGMENT_BYTES));
            segments.push(TextSegment {
                key,
                text: ArcRwSignal::new(segment.to_owned()),
            });
            key += 1;
            text = rest;
        }
        if !segments.is_empty() {
            self.segments.splice(from, segments);
        }
    }

    /// The whole text. Not tracked.
    pub fn whole(&self) -> String {
        let mut whole = String::new();
        self.segments
            .for_each(|segment| segment.text.with_untracked(|text| whole.push_str(text)));
        whole
    }

    /// The beginning of the text. Tracked.
    pub fn start(&self) -> String {
        let chunk = self.segments.chunks.with(|chunks| chunks.first().cloned());
        let segment = chunk.and_then(|chunk| chunk.items.with(|items| items.first().cloned()));
        segment.map_or(String::new(), |segment| segment.text.get())
    }

    #[cfg(test)]
    pub fn piece_lengths(&self) -> Vec<usize> {
        let mut lengths = Vec::new();
        self.segments
            .for_each(|segment| lengths.push(segment.text.with_untracked(String::len)));
        lengths
    }

    pub fn view(&self) -> AnyView {
        let segment = |segment: TextSegment| {
            let text = segment.text;
            view! { <span class="md-lines">{(move || TextNode(text.get())).erase()}</span> }.erase()
        };
        self.segments.view(|segment| segment.key, segment)
    }
}

/// The end, in bytes, of a chunk that `text` continues: after the line in which it reaches `wanted` bytes.
fn segment_end(text: &str, wanted: usize) -> usize {
    let from = wanted.saturating_sub(1).min(text.len());
    text.as_bytes()[from..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(text.len(), |at| from + at + 1)
}
