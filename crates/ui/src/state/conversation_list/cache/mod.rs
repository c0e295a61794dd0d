//! The browser's copy of the list of conversations: pure state, no signals, no requests.
//!
//! Pages are snapshots: while one is being loaded, the list's events are buffered, and applied to the page before it is
//! added. A rename or a deletion in the meantime is not lost.

use crate::state::replica::{Applied, Replica, Replicated};
use parlor_protocol::{
    ConversationList, Event, ListedConversation,
    conversation_list::{self, ListCursor, ListUpdate},
    transcript::MissingEventError,
};

/// The loaded part of the list, and the pages being loaded.
#[derive(Debug)]
pub struct ListCache {
    list: Replica<ConversationList>,
    /// Counts the restarts: a page that was requested before the last one is discarded.
    generation: u32,
}

impl Replicated for ConversationList {
    type Change = Event;
    type Update = ListUpdate;

    fn apply(&mut self, event: &Event) -> Result<ListUpdate, MissingEventError> {
        Ok(conversation_list::apply(self, event))
    }

    fn is_kept(event: &Event) -> bool {
        !event.body.is_streamed_text()
    }
}

impl Default for ListCache {
    /// An empty list.
    fn default() -> Self {
        Self {
            list: Replica::new(ConversationList::default()),
            generation: 0,
        }
    }
}

impl ListCache {
    /// Restarts from a snapshot of the newest page.
    pub fn restart(&mut self, list: ConversationList) {
        self.list = Replica::new(list);
        self.generation += 1;
    }

    /// The loaded part, pinned conversations first, then the newest activity.
    pub fn conversations(&self) -> &[ListedConversation] {
        self.list.get().map_or(&[], |list| &list.conversations)
    }

    /// Returns true if the server has more than the loaded part.
    pub fn has_more(&self) -> bool {
        self.list.get().is_some_and(|list| list.has_more)
    }

    /// The start of the next page.
    pub fn cursor(&self) -> Option<ListCursor> {
        self.list.get()?.next_cursor()
    }

    /// Applies an event.
    pub fn apply(&mut self, event: &Event) -> ListUpdate {
        match self.list.apply(event) {
            Applied::Changed(update) => update,
            Applied::Awaiting | Applied::NeedsSnapshot => ListUpdate::Unchanged,
        }
    }

    /// Registers a page request. [`ListCache::apply_page`] or [`ListCache::fail_page`] follows with the returned
    /// generation.
    pub fn begin_page(&mut self) -> u32 {
        self.list.begin_load();
        self.generation
    }

    /// Adds a page of older conversations (`newest` is false), or the newest page again, because of an event in a
    /// conversation that was not loaded.
    pub fn apply_page(&mut self, asked: u32, mut page: ConversationList, newest: bool) {
        if asked != self.generation || self.list.catch_up(&mut page).is_err() {
            return;
        }
        if let Some(list) = self.list.get_mut() {
            let has_more = if newest { list.has_more } else { page.has_more };
            list.append_page(page);
            list.has_more = has_more;
            // The server's order, so that the cursor of the next page is correct.
            for conversation in std::mem::take(&mut list.conversations) {
                list.insert(conversation);
            }
        }
        self.list.end_load();
    }

    /// Records that a page could not be loaded.
    pub fn fail_page(&mut self, asked: u32) {
        if asked == self.generation {
            self.list.end_load();
        }
    }
}

#[cfg(test)]
mod tests;
