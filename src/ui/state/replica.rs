//! The browser's copy of the server's state, with its one cursor: pure, no signals, no requests.

use super::{
    list_cache::ListCache,
    transcript_cache::{CacheOutcome, TranscriptCache},
};
use crate::protocol::{
    ConversationId, ConversationList, Event, OlderMessages, PageUpdate, Position, Transcript,
    conversation_list::{ListUpdate, RunEnd},
    transcript::TranscriptUpdate,
};

/// An effect of an event or a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplicaChange {
    /// The list changed.
    List,
    /// An event in a conversation outside the loaded part of the list: request the newest page.
    LoadList,
    /// A cached conversation changed.
    Conversation(ConversationId, TranscriptUpdate),
    /// A conversation was replaced as a whole.
    Replaced(ConversationId),
    /// Request a conversation's snapshot.
    LoadConversation(ConversationId),
    /// A conversation cannot be shown: its snapshots and its events contradict each other.
    Broken(ConversationId),
    /// A run ended; a notification may be due.
    RunEnded(RunEnd),
    /// Positions are missing from the stream, or an event is unreadable: load everything again.
    Resync,
}

/// The replica.
#[derive(Debug, Default)]
pub struct ServerReplica {
    pub list_cache: ListCache,
    pub transcripts: TranscriptCache,
}

impl ServerReplica {
    /// Starts from snapshots. Their positions may differ: the stream starts after the oldest, and each skips the events
    /// that it includes already.
    pub fn new(list: ConversationList, transcript: Option<Transcript>) -> Self {
        let mut replica = Self::default();
        replica.restart(list, transcript);
        replica
    }

    /// Restarts from new snapshots. Returns the conversations that were dropped.
    pub fn restart(&mut self, list: ConversationList, transcript: Option<Transcript>) -> Vec<ConversationId> {
        self.transcripts.cursor = transcript
            .as_ref()
            .map_or(list.as_of, |transcript| transcript.as_of.min(list.as_of));
        self.list_cache.restart(list);
        let keep = transcript.as_ref().map(|transcript| transcript.conversation_id);
        let dropped = self.transcripts.retain_only(keep);
        if let Some(transcript) = transcript {
            self.transcripts.insert(transcript);
        }
        dropped
    }

    /// The last position that was applied, after which the stream resumes.
    pub fn cursor(&self) -> Position {
        self.transcripts.cursor
    }

    /// Applies an event of the stream.
    pub fn apply(&mut self, event: &Event, changes: &mut Vec<ReplicaChange>) {
        if event.position <= self.cursor() {
            return;
        }
        if event.position != self.cursor().next() {
            changes.push(ReplicaChange::Resync);
            return;
        }
        self.transcripts.cursor = event.position;
        if event.page_update() == PageUpdate::Damaged {
            // The content of an unreadable event is unknown. Snapshots include its result and continue after it.
            changes.push(ReplicaChange::Resync);
            return;
        }
        match self.list_cache.apply(event) {
            ListUpdate::Unchanged => {}
            ListUpdate::Changed => changes.push(ReplicaChange::List),
            ListUpdate::RunEnded(ended) => {
                changes.extend([ReplicaChange::RunEnded(ended), ReplicaChange::List]);
            }
            ListUpdate::UnknownConversation(_) => changes.push(ReplicaChange::LoadList),
        }
        let outcome = self.transcripts.apply(event);
        changes.extend(change_from_outcome(event.conversation_id, outcome));
    }

    /// Applies a conversation's snapshot.
    pub fn apply_snapshot(&mut self, snapshot: Transcript) -> Option<ReplicaChange> {
        let id = snapshot.conversation_id;
        change_from_outcome(id, self.transcripts.apply_snapshot(snapshot))
    }

    /// Adds a page of older messages.
    pub fn prepend(&mut self, id: ConversationId, older: OlderMessages) -> Option<ReplicaChange> {
        change_from_outcome(id, self.transcripts.prepend(id, older))
    }
}

fn change_from_outcome(id: ConversationId, outcome: CacheOutcome) -> Option<ReplicaChange> {
    match outcome {
        CacheOutcome::Unchanged => None,
        CacheOutcome::Touched(touched) => Some(ReplicaChange::Conversation(id, touched)),
        CacheOutcome::Replaced => Some(ReplicaChange::Replaced(id)),
        CacheOutcome::NeedsSnapshot => Some(ReplicaChange::LoadConversation(id)),
        CacheOutcome::Broken => Some(ReplicaChange::Broken(id)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{protocol::EventBody, ui::state::story::Story};

    fn list_at(position: u64) -> ConversationList {
        ConversationList {
            as_of: Position(position),
            ..ConversationList::default()
        }
    }

    #[test]
    fn stream_starts_after_the_older_snapshot() {
        let story = Story::new("Hello", &["one ", "two"]);
        let cases = [(5, 2, 2), (2, 5, 2), (3, 3, 3)];
        for (list, transcript, cursor) in cases {
            let mut replica = ServerReplica::new(list_at(list), Some(story.after(transcript)));
            assert_eq!(replica.cursor(), Position(cursor));
            let mut changes = Vec::new();
            for event in &story.events[cursor as usize..] {
                replica.apply(event, &mut changes);
            }
            assert_eq!(
                replica.transcripts.get(story.conversation_id),
                Some(&story.after(6))
            );
            assert!(!changes.contains(&ReplicaChange::Resync));
        }
    }

    #[test]
    fn applies_a_repeated_event_once() {
        let story = Story::new("Hello", &["one ", "two"]);
        let mut replica = ServerReplica::new(list_at(0), Some(story.after(0)));
        let mut changes = Vec::new();
        for event in &story.events {
            replica.apply(event, &mut changes);
        }
        changes.clear();
        for event in &story.events {
            replica.apply(event, &mut changes);
        }
        assert_eq!(changes, []);
        assert_eq!(
            replica.transcripts.get(story.conversation_id),
            Some(&story.after(6))
        );
    }

    #[test]
    fn missing_position_triggers_a_resync() {
        let story = Story::new("Hello", &["one ", "two"]);
        let mut replica = ServerReplica::new(list_at(0), None);
        let mut changes = Vec::new();
        replica.apply(&story.events[0], &mut changes);
        changes.clear();
        replica.apply(&story.events[2], &mut changes);
        assert_eq!(changes, [ReplicaChange::Resync]);
        assert_eq!(replica.cursor(), Position(1), "nothing was applied");
        replica.restart(list_at(6), Some(story.after(6)));
        assert_eq!(replica.cursor(), Position(6));
    }

    #[test]
    fn skips_a_damaged_event_once() {
        let story = Story::new("Hello", &["one ", "two"]);
        let mut replica = ServerReplica::new(list_at(2), Some(story.after(2)));
        let mut damaged = story.events[2].clone();
        damaged.body = EventBody::Damaged;
        let mut changes = Vec::new();
        replica.apply(&damaged, &mut changes);
        replica.apply(&damaged, &mut changes);
        assert_eq!(changes, [ReplicaChange::Resync]);
        assert_eq!(replica.cursor(), Position(3));
        replica.restart(list_at(3), Some(story.after(3)));
        changes.clear();
        for event in &story.events[3..] {
            replica.apply(event, &mut changes);
        }
        assert!(!changes.contains(&ReplicaChange::Resync));
        assert_eq!(
            replica.transcripts.get(story.conversation_id),
            Some(&story.after(6))
        );
    }

    fn run_end_changes(story: &Story) -> Vec<ReplicaChange> {
        let mut replica = ServerReplica::new(list_at(0), None);
        let mut changes = Vec::new();
        for event in story.events.iter().chain(&story.events) {
            replica.apply(event, &mut changes);
        }
        changes.retain(|change| matches!(change, ReplicaChange::RunEnded(_)));
        changes
    }

    #[test]
    fn reports_a_run_end_once_unless_stopped() {
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
        let ended = RunEnd {
            conversation_id: story.conversation_id,
            run_id: story.answer,
            started_at: began_at,
            ended_at,
        };
        assert_eq!(run_end_changes(&story), [ReplicaChange::RunEnded(ended)]);
        if let Some(last) = story.events.last_mut() {
            last.body = EventBody::Cancelled {
                ended_at,
                worked_ms: 0,
            };
        }
        assert_eq!(run_end_changes(&story), []);
    }

    #[test]
    fn fast_switching_keeps_each_snapshot_apart() {
        let (first, second) = (Story::new("First", &["a"]), Story::new("Second", &["b"]));
        let mut replica = ServerReplica::new(list_at(5), None);
        assert!(replica.transcripts.open(first.conversation_id));
        assert!(replica.transcripts.open(second.conversation_id));
        // The responses arrive in the other order.
        assert_eq!(
            replica.apply_snapshot(second.after(5)),
            Some(ReplicaChange::Replaced(second.conversation_id))
        );
        assert_eq!(
            replica.apply_snapshot(first.after(5)),
            Some(ReplicaChange::Replaced(first.conversation_id))
        );
        assert_eq!(
            replica.transcripts.get(second.conversation_id),
            Some(&second.after(5))
        );
        assert_eq!(
            replica.transcripts.get(first.conversation_id),
            Some(&first.after(5))
        );
    }
}
