//! All that this browser holds of the server's state, and its one cursor: pure, no signals, no requests.

use super::{
    ended::Ended,
    listing::Listing,
    shelf::{Outcome, Shelf},
};
use crate::protocol::{
    ConversationId, ConversationList, Event, EventBody, OlderMessages, Position, Transcript,
    conversation_list::Listed, transcript::Touched,
};

/// What has to be done after an event or a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The list is another one.
    List,
    /// Something happened in a conversation that is not in the loaded part of the list: ask for the newest page.
    AskForList,
    /// A conversation on the shelf is another one.
    Conversation(ConversationId, Touched),
    /// All of a conversation is new.
    Replaced(ConversationId),
    /// Ask for a conversation's snapshot.
    AskFor(ConversationId),
    /// A conversation cannot be shown: its snapshots and its events contradict each other.
    Broken(ConversationId),
    /// A run has come to an end that is news for who was not looking.
    Ended(Ended),
    /// Positions are missing from the stream, or what stands there can't be read: load everything again.
    Restart,
}

/// The state.
#[derive(Debug, Default)]
pub struct Session {
    pub listing: Listing,
    pub shelf: Shelf,
}

impl Session {
    /// Starts from snapshots. They may be of different positions: the stream starts after the oldest, and
    /// each skips what it includes already.
    pub fn new(list: ConversationList, transcript: Option<Transcript>) -> Self {
        let mut session = Self::default();
        session.restart(list, transcript);
        session
    }

    /// Starts again, from new snapshots. Gives the conversations that were dropped.
    pub fn restart(&mut self, list: ConversationList, transcript: Option<Transcript>) -> Vec<ConversationId> {
        self.shelf.cursor = transcript
            .as_ref()
            .map_or(list.as_of, |transcript| transcript.as_of.min(list.as_of));
        self.listing.restart(list);
        let keep = transcript.as_ref().map(|transcript| transcript.conversation_id);
        let dropped = self.shelf.forget_others(keep);
        if let Some(transcript) = transcript {
            self.shelf.put(transcript);
        }
        dropped
    }

    /// The last position that was applied: the stream goes on after it.
    pub fn cursor(&self) -> Position {
        self.shelf.cursor
    }

    /// Applies an event of the stream.
    pub fn apply(&mut self, event: &Event, changes: &mut Vec<Change>) {
        if event.position <= self.cursor() {
            return;
        }
        if event.position != self.cursor().next() {
            changes.push(Change::Restart);
            return;
        }
        self.shelf.cursor = event.position;
        if event.body == EventBody::Damaged {
            // Nobody knows what it was. Snapshots have what came of it, and go on after it.
            changes.push(Change::Restart);
            return;
        }
        changes.extend(self.ended(event).map(Change::Ended));
        match self.listing.apply(event) {
            Listed::Unchanged => {}
            Listed::Changed => changes.push(Change::List),
            Listed::Unknown(_) => changes.push(Change::AskForList),
        }
        let outcome = self.shelf.apply(event);
        changes.extend(change(event.conversation_id, outcome));
    }

    /// The end that an event is, before the list hears of it.
    fn ended(&self, event: &Event) -> Option<Ended> {
        let (EventBody::Complete { ended_at, .. } | EventBody::Error { ended_at, .. }) = event.body else {
            return None;
        };
        let mut listed = self.listing.conversations().iter();
        let listed = listed.find(|conversation| conversation.id == event.conversation_id)?;
        Some(Ended {
            conversation_id: event.conversation_id,
            run: listed.active_run.filter(|run| Some(*run) == event.message_id)?,
            // Nothing else happens in a conversation while it is being answered.
            began_at: listed.updated_at,
            ended_at,
        })
    }

    /// A conversation's snapshot arrived.
    pub fn loaded(&mut self, snapshot: Transcript) -> Option<Change> {
        let id = snapshot.conversation_id;
        change(id, self.shelf.loaded(snapshot))
    }

    /// A page of older messages arrived.
    pub fn prepend(&mut self, id: ConversationId, older: OlderMessages) -> Option<Change> {
        change(id, self.shelf.prepend(id, older))
    }
}

fn change(id: ConversationId, outcome: Outcome) -> Option<Change> {
    match outcome {
        Outcome::Nothing => None,
        Outcome::Touched(touched) => Some(Change::Conversation(id, touched)),
        Outcome::Replaced => Some(Change::Replaced(id)),
        Outcome::Load => Some(Change::AskFor(id)),
        Outcome::Broken => Some(Change::Broken(id)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::live::story::Story;

    fn list_at(position: u64) -> ConversationList {
        ConversationList {
            as_of: Position(position),
            ..ConversationList::default()
        }
    }

    #[test]
    fn the_stream_starts_after_the_older_of_the_two_snapshots() {
        let story = Story::new("Hello", &["one ", "two"]);
        let cases = [(5, 2, 2), (2, 5, 2), (3, 3, 3)];
        for (list, transcript, cursor) in cases {
            let mut session = Session::new(list_at(list), Some(story.after(transcript)));
            assert_eq!(session.cursor(), Position(cursor));
            let mut changes = Vec::new();
            for event in &story.events[cursor as usize..] {
                session.apply(event, &mut changes);
            }
            assert_eq!(session.shelf.get(story.conversation_id), Some(&story.after(6)));
            assert!(!changes.contains(&Change::Restart));
        }
    }

    #[test]
    fn an_event_that_comes_twice_is_applied_once() {
        let story = Story::new("Hello", &["one ", "two"]);
        let mut session = Session::new(list_at(0), Some(story.after(0)));
        let mut changes = Vec::new();
        for event in &story.events {
            session.apply(event, &mut changes);
        }
        changes.clear();
        for event in &story.events {
            session.apply(event, &mut changes);
        }
        assert_eq!(changes, []);
        assert_eq!(session.shelf.get(story.conversation_id), Some(&story.after(6)));
    }

    #[test]
    fn a_position_that_is_missing_means_to_start_again() {
        let story = Story::new("Hello", &["one ", "two"]);
        let mut session = Session::new(list_at(0), None);
        let mut changes = Vec::new();
        session.apply(&story.events[0], &mut changes);
        changes.clear();
        session.apply(&story.events[2], &mut changes);
        assert_eq!(changes, [Change::Restart]);
        assert_eq!(session.cursor(), Position(1), "nothing was applied");
        session.restart(list_at(6), Some(story.after(6)));
        assert_eq!(session.cursor(), Position(6));
    }

    #[test]
    fn a_damaged_event_is_passed_once() {
        let story = Story::new("Hello", &["one ", "two"]);
        let mut session = Session::new(list_at(2), Some(story.after(2)));
        let mut damaged = story.events[2].clone();
        damaged.body = EventBody::Damaged;
        let mut changes = Vec::new();
        session.apply(&damaged, &mut changes);
        session.apply(&damaged, &mut changes);
        assert_eq!(changes, [Change::Restart]);
        assert_eq!(session.cursor(), Position(3));
        session.restart(list_at(3), Some(story.after(3)));
        changes.clear();
        for event in &story.events[3..] {
            session.apply(event, &mut changes);
        }
        assert!(!changes.contains(&Change::Restart));
        assert_eq!(session.shelf.get(story.conversation_id), Some(&story.after(6)));
    }

    fn ends(story: &Story) -> Vec<Change> {
        let mut session = Session::new(list_at(0), None);
        let mut changes = Vec::new();
        for event in story.events.iter().chain(&story.events) {
            session.apply(event, &mut changes);
        }
        changes.retain(|change| matches!(change, Change::Ended(_)));
        changes
    }

    #[test]
    fn the_end_of_a_run_is_told_once_with_its_times_unless_a_person_made_it() {
        let mut story = Story::new("Hello", &["one"]);
        let Some(Event {
            body: EventBody::Complete { ended_at, .. },
            ..
        }) = story.events.last_mut()
        else {
            panic!("a story ends")
        };
        let began_at = *ended_at;
        ended_at.0 += 31_000;
        let ended_at = *ended_at;
        let ended = Ended {
            conversation_id: story.conversation_id,
            run: story.answer,
            began_at,
            ended_at,
        };
        assert_eq!(ends(&story), [Change::Ended(ended)]);
        if let Some(last) = story.events.last_mut() {
            last.body = EventBody::Cancelled {
                ended_at,
                worked_ms: 0,
            };
        }
        assert_eq!(ends(&story), []);
    }

    #[test]
    fn fast_clicks_leave_every_conversation_with_its_own_snapshot() {
        let (first, second) = (Story::new("First", &["a"]), Story::new("Second", &["b"]));
        let mut session = Session::new(list_at(5), None);
        assert!(session.shelf.open(first.conversation_id));
        assert!(session.shelf.open(second.conversation_id));
        // The answers come in the other order.
        assert_eq!(
            session.loaded(second.after(5)),
            Some(Change::Replaced(second.conversation_id))
        );
        assert_eq!(
            session.loaded(first.after(5)),
            Some(Change::Replaced(first.conversation_id))
        );
        assert_eq!(session.shelf.get(second.conversation_id), Some(&second.after(5)));
        assert_eq!(session.shelf.get(first.conversation_id), Some(&first.after(5)));
    }
}
