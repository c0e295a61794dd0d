//! The browser's copy of the server's state, with its one cursor: pure, no signals, no requests.

use super::{
    list_cache::ListCache,
    run_end::RunEnd,
    transcript_cache::{CacheOutcome, TranscriptCache},
};
use crate::protocol::{
    ConversationId, ConversationList, Event, EventBody, OlderMessages, Position, Transcript,
    conversation_list::ListUpdate, transcript::TranscriptUpdate,
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
        if event.body == EventBody::Damaged {
            // The content of an unreadable event is unknown. Snapshots include its result and continue after it.
            changes.push(ReplicaChange::Resync);
            return;
        }
        changes.extend(self.run_end(event).map(ReplicaChange::RunEnded));
        match self.list_cache.apply(event) {
            ListUpdate::Unchanged => {}
            ListUpdate::Changed => changes.push(ReplicaChange::List),
            ListUpdate::UnknownConversation(_) => changes.push(ReplicaChange::LoadList),
        }
        let outcome = self.transcripts.apply(event);
        changes.extend(change_from_outcome(event.conversation_id, outcome));
    }

    /// The run's end in an event, read before the list applies the event.
    fn run_end(&self, event: &Event) -> Option<RunEnd> {
        let (EventBody::Complete { ended_at, .. } | EventBody::Error { ended_at, .. }) = event.body else {
            return None;
        };
        let mut listed = self.list_cache.conversations().iter();
        let listed = listed.find(|conversation| conversation.id == event.conversation_id)?;
        Some(RunEnd {
            conversation_id: event.conversation_id,
            run_id: listed.active_run.filter(|run| Some(*run) == event.message_id)?,
            // Nothing else happens in a conversation while a run is active.
            started_at: listed.updated_at,
            ended_at,
        })
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
mod tests;
