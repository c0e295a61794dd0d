//! The browser's copy of the list of conversations: pure state, no signals, no requests.
//!
//! Pages are snapshots: while one is being loaded, the list's events are buffered, and applied to the page before it is
//! added. A rename or a deletion in the meantime is not lost.

use crate::protocol::{
    ConversationList, ConversationSummary, Event,
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
    pub fn conversations(&self) -> &[ConversationSummary] {
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
mod tests {
    use super::*;
    use crate::protocol::{ConversationId, EventBody, MessageId, Position, Timestamp};

    fn summary(n: i64) -> ConversationSummary {
        let id = ConversationId(uuid::Uuid::from_u128(n as u128));
        ConversationSummary {
            id,
            title: format!("chat {n}"),
            updated_at: Timestamp(n),
            activity: Position(n.unsigned_abs()),
            unseen: false,
            active_run: None,
            waiting: false,
        }
    }

    fn list(as_of: u64, numbers: &[i64], has_more: bool) -> ConversationList {
        let conversations = numbers.iter().map(|n| summary(*n)).collect();
        ConversationList {
            as_of: Position(as_of),
            conversations,
            has_more,
        }
    }

    fn started(list: ConversationList) -> ListCache {
        let mut listing = ListCache::default();
        listing.restart(list);
        listing
    }

    fn event(position: u64, n: i64, body: EventBody) -> Event {
        let message_id = Some(MessageId(uuid::Uuid::from_u128(7)));
        Event {
            position: Position(position),
            conversation_id: summary(n).id,
            message_id,
            body,
        }
    }

    fn titles(listing: &ListCache) -> Vec<&str> {
        listing
            .conversations()
            .iter()
            .map(|conversation| conversation.title.as_str())
            .collect()
    }

    #[test]
    fn applies_events_buffered_during_a_page_load() {
        let mut listing = started(list(10, &[9, 8], true));
        let asked = listing.begin_page();
        listing.apply(&event(
            11,
            4,
            EventBody::ConversationRenamed {
                title: "renamed".into(),
            },
        ));
        listing.apply(&event(12, 3, EventBody::ConversationDeleted));
        // The page was read between the two events.
        let mut page = list(11, &[4, 3, 2], false);
        page.conversations[0].title = "renamed".into();
        listing.apply_page(asked, page, false);
        assert_eq!(titles(&listing), ["chat 9", "chat 8", "renamed", "chat 2"]);
        assert!(!listing.has_more());

        let mut listing = started(list(10, &[9, 8], true));
        let asked = listing.begin_page();
        listing.apply(&event(
            11,
            4,
            EventBody::ConversationRenamed {
                title: "renamed".into(),
            },
        ));
        listing.apply_page(asked, list(10, &[4, 3, 2], false), false);
        assert_eq!(
            titles(&listing),
            ["chat 9", "chat 8", "renamed", "chat 3", "chat 2"]
        );
    }

    #[test]
    fn moves_an_updated_conversation_to_the_top() {
        let mut listing = started(list(10, &[9, 8], true));
        let started = EventBody::RunStarted {
            parent_id: MessageId(uuid::Uuid::from_u128(6)),
            model: "a/b".into(),
            created_at: Timestamp(20),
        };
        let started = event(11, 1, started);
        assert_eq!(
            listing.apply(&started),
            ListUpdate::UnknownConversation(started.conversation_id)
        );
        let asked = listing.begin_page();
        let mut page = list(11, &[1, 9, 8], true);
        page.conversations[0].activity = Position(11);
        page.conversations[0].active_run = started.message_id;
        listing.apply_page(asked, page, true);
        assert_eq!(titles(&listing), ["chat 1", "chat 9", "chat 8"]);
        assert!(listing.has_more());
        listing.apply(&event(
            12,
            1,
            EventBody::Complete {
                ended_at: Timestamp(21),
                worked_ms: 0,
                finish_reason: None,
            },
        ));
        assert_eq!(listing.conversations()[0].active_run, None);
    }

    #[test]
    fn applies_an_event_once() {
        let mut listing = started(list(10, &[9], false));
        let created = EventBody::ConversationCreated {
            title: "new".into(),
            created_at: Timestamp(30),
        };
        assert_eq!(
            listing.apply(&event(11, 30, created.clone())),
            ListUpdate::Changed
        );
        assert_eq!(listing.apply(&event(11, 30, created)), ListUpdate::Unchanged);
        assert_eq!(titles(&listing), ["new", "chat 9"]);
    }

    #[test]
    fn drops_a_page_requested_before_restart() {
        let mut listing = started(list(10, &[9, 8], true));
        let asked = listing.begin_page();
        listing.restart(list(20, &[9], true));
        listing.apply_page(asked, list(10, &[4, 3], false), false);
        assert_eq!(titles(&listing), ["chat 9"]);
        let asked = listing.begin_page();
        listing.apply_page(asked, list(20, &[3], false), false);
        assert_eq!(titles(&listing), ["chat 9", "chat 3"]);
    }
}
