//! The list of conversations as this browser holds it: pure state, no signals, no requests.
//!
//! Pages are snapshots: while one is on its way the list's events are kept, and folded into the page before
//! it is added. So a rename or a deletion in the meantime is not lost.

use crate::protocol::{
    ConversationList, ConversationSummary, Event, EventBody,
    conversation_list::{self, ListCursor, Listed},
    sorted,
};

/// The part of the list that is loaded, and what happened since the pages that are on their way were asked for.
#[derive(Debug, Default)]
pub struct Listing {
    list: ConversationList,
    /// Counts the snapshots that it started from: a page that was asked for before the last one is of no use.
    number: u32,
    /// Pages on their way.
    awaited: usize,
    buffer: Vec<Event>,
}

impl Listing {
    /// Starts from a snapshot of the newest page.
    pub fn restart(&mut self, list: ConversationList) {
        *self = Self {
            list,
            number: self.number + 1,
            ..Self::default()
        };
    }

    /// The loaded part, newest activity first.
    pub fn conversations(&self) -> &[ConversationSummary] {
        &self.list.conversations
    }

    /// Whether there is more than the loaded part.
    pub fn has_more(&self) -> bool {
        self.list.has_more
    }

    /// Where the next page begins.
    pub fn cursor(&self) -> Option<ListCursor> {
        self.list.cursor()
    }

    /// Applies an event.
    pub fn apply(&mut self, event: &Event) -> Listed {
        if self.awaited > 0
            && !matches!(
                event.body,
                EventBody::TextDelta { .. } | EventBody::Thinking { .. }
            )
        {
            self.buffer.push(event.clone());
        }
        conversation_list::apply(&mut self.list, event)
    }

    /// A page is being asked for; [`Listing::page`] or [`Listing::no_page`] follows, with the number that this gives.
    pub fn ask(&mut self) -> u32 {
        self.awaited += 1;
        self.number
    }

    /// A page of older conversations arrived (`newest` is false), or the newest page once more, because
    /// something happened in a conversation that was not loaded.
    pub fn page(&mut self, asked: u32, mut page: ConversationList, newest: bool) {
        if asked != self.number {
            return;
        }
        for event in &self.buffer {
            conversation_list::apply(&mut page, event);
        }
        let has_more = if newest { self.list.has_more } else { page.has_more };
        self.list.append(page);
        self.list.has_more = has_more;
        // The same order as the server's, so that the cursor of the next page is right.
        for conversation in std::mem::take(&mut self.list.conversations) {
            sorted::insert(&mut self.list.conversations, conversation, |conversation| {
                std::cmp::Reverse(conversation.activity)
            });
        }
        self.no_page(asked);
    }

    /// The page could not be had.
    pub fn no_page(&mut self, asked: u32) {
        if asked != self.number {
            return;
        }
        self.awaited = self.awaited.saturating_sub(1);
        if self.awaited == 0 {
            self.buffer.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{ConversationId, MessageId, Position, Timestamp};

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

    fn started(list: ConversationList) -> Listing {
        let mut listing = Listing::default();
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

    fn titles(listing: &Listing) -> Vec<&str> {
        listing
            .conversations()
            .iter()
            .map(|conversation| conversation.title.as_str())
            .collect()
    }

    #[test]
    fn what_happens_while_a_page_is_on_its_way_is_in_it() {
        let mut listing = started(list(10, &[9, 8], true));
        let asked = listing.ask();
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
        listing.page(asked, page, false);
        assert_eq!(titles(&listing), ["chat 9", "chat 8", "renamed", "chat 2"]);
        assert!(!listing.has_more());

        let mut listing = started(list(10, &[9, 8], true));
        let asked = listing.ask();
        listing.apply(&event(
            11,
            4,
            EventBody::ConversationRenamed {
                title: "renamed".into(),
            },
        ));
        listing.page(asked, list(10, &[4, 3, 2], false), false);
        assert_eq!(
            titles(&listing),
            ["chat 9", "chat 8", "renamed", "chat 3", "chat 2"]
        );
    }

    #[test]
    fn an_old_conversation_that_wakes_up_comes_to_the_top() {
        let mut listing = started(list(10, &[9, 8], true));
        let started = EventBody::RunStarted {
            parent_id: MessageId(uuid::Uuid::from_u128(6)),
            model: "a/b".into(),
            created_at: Timestamp(20),
        };
        let started = event(11, 1, started);
        assert_eq!(listing.apply(&started), Listed::Unknown(started.conversation_id));
        let asked = listing.ask();
        let mut page = list(11, &[1, 9, 8], true);
        page.conversations[0].activity = Position(11);
        page.conversations[0].active_run = started.message_id;
        listing.page(asked, page, true);
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
    fn an_event_is_applied_once() {
        let mut listing = started(list(10, &[9], false));
        let created = EventBody::ConversationCreated {
            title: "new".into(),
            created_at: Timestamp(30),
        };
        assert_eq!(listing.apply(&event(11, 30, created.clone())), Listed::Changed);
        assert_eq!(listing.apply(&event(11, 30, created)), Listed::Unchanged);
        assert_eq!(titles(&listing), ["new", "chat 9"]);
    }

    #[test]
    fn a_page_that_was_asked_for_before_the_list_began_again_is_dropped() {
        let mut listing = started(list(10, &[9, 8], true));
        let asked = listing.ask();
        listing.restart(list(20, &[9], true));
        listing.page(asked, list(10, &[4, 3], false), false);
        assert_eq!(titles(&listing), ["chat 9"]);
        let asked = listing.ask();
        listing.page(asked, list(20, &[3], false), false);
        assert_eq!(titles(&listing), ["chat 9", "chat 3"]);
    }
}
