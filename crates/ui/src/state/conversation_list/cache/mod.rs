//! The browser's copy of the list of conversations: pure state, no signals, no requests.
//!
//! Pages are snapshots: while one is being loaded, the list's events are buffered, and applied to the page before it is
//! added. A rename or a deletion in the meantime is not lost.

use parlor_protocol::{
    ConversationList, Event, ListedConversation,
    conversation_list::{self, ListCursor, ListUpdate},
    sorted_vec,
};

/// The loaded part of the list, and the events since the pending pages were requested.
#[derive(Debug, Default)]
pub struct ListCache {
    list: ConversationList,
    /// Counts the restarts: a page that was requested before the last one is discarded.
    generation: u32,
    /// The number of pages being loaded.
    pending_pages: usize,
    buffer: Vec<Event>,
}

impl ListCache {
    /// Restarts from a snapshot of the newest page.
    pub fn restart(&mut self, list: ConversationList) {
        *self = Self {
            list,
            generation: self.generation + 1,
            ..Self::default()
        };
    }

    /// The loaded part, newest activity first.
    pub fn conversations(&self) -> &[ListedConversation] {
        &self.list.conversations
    }

    /// Returns true if the server has more than the loaded part.
    pub fn has_more(&self) -> bool {
        self.list.has_more
    }

    /// The start of the next page.
    pub fn cursor(&self) -> Option<ListCursor> {
        self.list.next_cursor()
    }

    /// Applies an event.
    pub fn apply(&mut self, event: &Event) -> ListUpdate {
        if self.pending_pages > 0 && !event.body.is_streamed_text() {
            self.buffer.push(event.clone());
        }
        conversation_list::apply(&mut self.list, event)
    }

    /// Registers a page request. [`ListCache::apply_page`] or [`ListCache::fail_page`] follows with the returned
    /// generation.
    pub fn begin_page(&mut self) -> u32 {
        self.pending_pages += 1;
        self.generation
    }

    /// Adds a page of older conversations (`newest` is false), or the newest page again, because of an event in a
    /// conversation that was not loaded.
    pub fn apply_page(&mut self, asked: u32, mut page: ConversationList, newest: bool) {
        if asked != self.generation {
            return;
        }
        for event in &self.buffer {
            conversation_list::apply(&mut page, event);
        }
        let has_more = if newest { self.list.has_more } else { page.has_more };
        self.list.append_page(page);
        self.list.has_more = has_more;
        // The server's order, so that the cursor of the next page is correct.
        for conversation in std::mem::take(&mut self.list.conversations) {
            sorted_vec::insert_sorted(&mut self.list.conversations, conversation, |conversation| {
                std::cmp::Reverse(conversation.activity)
            });
        }
        self.fail_page(asked);
    }

    /// Records that a page could not be loaded.
    pub fn fail_page(&mut self, asked: u32) {
        if asked != self.generation {
            return;
        }
        self.pending_pages = self.pending_pages.saturating_sub(1);
        if self.pending_pages == 0 {
            self.buffer.clear();
        }
    }
}

#[cfg(test)]
mod tests;
