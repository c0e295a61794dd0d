//! The conversations that this browser holds: pure state, no signals, no requests.
//!
//! A conversation that was left stays in the cache and keeps applying events, so that it is up to date when the user
//! returns. Each is a [`Replica`], of which one snapshot at a time is requested.

use crate::state::replica::{Applied, Replica, Replicated};
use parlor_protocol::{
    ConversationId, Event, MessageId, OlderMessages, Position, Transcript,
    transcript::{self, MissingEventError, TranscriptUpdate},
};

/// Beyond this limit, the least recently viewed conversation is dropped.
const MAX_TRANSCRIPTS: usize = 20;
/// The number of messages kept of a conversation that is not viewed: about one page of the server.
const MAX_IDLE_MESSAGES: usize = 20;
/// The attempts to load a snapshot whose events contradict it.
const MAX_SNAPSHOT_ATTEMPTS: u8 = 3;

#[derive(Debug)]
struct CachedTranscript {
    id: ConversationId,
    replica: Replica<Transcript>,
    /// A snapshot from before this position is the response to an earlier request.
    requested_at: Position,
    /// The snapshots in a row that contradicted the events.
    attempts: u8,
}

impl Replicated for Transcript {
    type Change = Event;
    type Update = TranscriptUpdate;

    fn apply(&mut self, event: &Event) -> Result<TranscriptUpdate, MissingEventError> {
        transcript::apply(self, event)
    }
}

/// The effect of an event or a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheOutcome {
    /// Nothing to show.
    Unchanged,
    Touched(TranscriptUpdate),
    /// The conversation was replaced as a whole.
    Replaced,
    /// A snapshot has to be requested.
    NeedsSnapshot,
    /// Snapshots and events contradict each other; given up.
    Broken,
}

/// The cached conversations, the most recently viewed last.
#[derive(Debug, Default)]
pub struct TranscriptCache {
    entries: Vec<CachedTranscript>,
}

impl CachedTranscript {
    fn new(id: ConversationId, replica: Replica<Transcript>) -> Self {
        Self {
            id,
            replica,
            requested_at: Position(0),
            attempts: 0,
        }
    }

    fn begin_request(&mut self, cursor: Position) {
        self.replica.begin_load();
        self.note_request(cursor);
    }

    fn note_request(&mut self, cursor: Position) {
        self.requested_at = cursor;
        self.attempts = 0;
    }
}

impl TranscriptCache {
    /// Adds a complete conversation: from the page's snapshot, or a new one.
    pub fn insert(&mut self, transcript: Transcript) {
        let id = transcript.conversation_id;
        self.entries.retain(|entry| entry.id != id);
        self.entries
            .push(CachedTranscript::new(id, Replica::new(transcript)));
    }

    /// Marks a conversation as viewed. Returns true if its snapshot has to be requested. `cursor` is the last position
    /// that the stream has brought.
    pub fn open(&mut self, id: ConversationId, cursor: Position) -> bool {
        let entry = match self.index(id) {
            Some(index) => self.entries.remove(index),
            None => CachedTranscript::new(id, Replica::default()),
        };
        let replica = &entry.replica;
        let load = (replica.get().is_none() || replica.is_behind()) && !replica.is_loading();
        self.entries.push(entry);
        if let Some(entry) = self.entries.last_mut().filter(|_| load) {
            entry.begin_request(cursor);
        }
        load
    }

    /// The transcript, if it can be shown.
    pub fn get(&self, id: ConversationId) -> Option<&Transcript> {
        self.entries[self.index(id)?].replica.get()
    }

    /// Returns true if the transcript is known to be stale.
    pub fn is_behind(&self, id: ConversationId) -> bool {
        self.index(id)
            .is_some_and(|index| self.entries[index].replica.is_behind())
    }

    /// Begins a request for the snapshot of a cached conversation. Returns true if the caller has to send it: the
    /// conversation is cached and no request is under way. The request is made as by [`open`](Self::open).
    pub fn begin_reload(&mut self, id: ConversationId, cursor: Position) -> bool {
        let Some(index) = self.index(id) else {
            return false;
        };
        let entry = &mut self.entries[index];
        let ask = !entry.replica.is_loading();
        if ask {
            entry.begin_request(cursor);
        }
        ask
    }

    /// Applies an event.
    pub fn apply(&mut self, event: &Event) -> CacheOutcome {
        let Some(index) = self.index(event.conversation_id) else {
            return CacheOutcome::Unchanged;
        };
        let entry = &mut self.entries[index];
        let as_of = entry.replica.get().map(|transcript| transcript.as_of);
        match entry.replica.apply(event) {
            Applied::Awaiting | Applied::Changed(TranscriptUpdate::Nothing) => CacheOutcome::Unchanged,
            Applied::Changed(touched) => CacheOutcome::Touched(touched),
            Applied::NeedsSnapshot => {
                entry.note_request(as_of.unwrap_or_default());
                CacheOutcome::NeedsSnapshot
            }
        }
    }

    /// Applies a snapshot.
    pub fn apply_snapshot(&mut self, snapshot: Transcript) -> CacheOutcome {
        let Some(index) = self.index(snapshot.conversation_id) else {
            return CacheOutcome::Unchanged;
        };
        let entry = &mut self.entries[index];
        // The response to a request from before everything was loaded again.
        let is_unrequested = snapshot.as_of < entry.requested_at || !entry.replica.is_loading();
        if is_unrequested {
            return CacheOutcome::Unchanged;
        }
        if entry.replica.finish_load(snapshot).is_ok() {
            return CacheOutcome::Replaced;
        }
        entry.attempts += 1;
        if entry.attempts < MAX_SNAPSHOT_ATTEMPTS {
            return CacheOutcome::NeedsSnapshot;
        }
        entry.replica = Replica::default();
        CacheOutcome::Broken
    }

    /// The first message that is shown of a conversation: a new snapshot must reach back that far.
    pub fn first_shown(&self, id: ConversationId) -> Option<MessageId> {
        self.get(id)?.shown_branch().first().map(|first| first.id)
    }

    /// Adds a page of older messages.
    pub fn prepend(&mut self, id: ConversationId, older: OlderMessages) -> CacheOutcome {
        let Some(index) = self.index(id) else {
            return CacheOutcome::Unchanged;
        };
        let Some(transcript) = self.entries[index].replica.get_mut() else {
            return CacheOutcome::Unchanged;
        };
        // A pending snapshot may not reach back as far; then it is requested again.
        transcript.prepend(older);
        CacheOutcome::Replaced
    }

    /// Keeps only the newest messages of a conversation that was left. Returns true if there were more.
    pub fn trim(&mut self, id: ConversationId) -> bool {
        let Some(index) = self.index(id) else {
            return false;
        };
        let replica = &mut self.entries[index].replica;
        let is_idle = !replica.is_loading();
        let long = |transcript: &&mut Transcript| is_idle && transcript.messages.len() > MAX_IDLE_MESSAGES;
        let transcript = replica.get_mut().filter(long);
        transcript
            .map(|transcript| transcript.truncate_to_newest(MAX_IDLE_MESSAGES))
            .is_some()
    }

    /// Records that the snapshot could not be loaded. The transcript stays; opening it again requests the snapshot
    /// again.
    pub fn fail_snapshot(&mut self, id: ConversationId) {
        let Some(index) = self.index(id) else { return };
        let replica = &mut self.entries[index].replica;
        if replica.get().is_some() {
            // The next snapshot includes the events that were kept.
            replica.end_load();
            replica.mark_behind();
        } else {
            self.entries.remove(index);
        }
    }

    /// Drops the idle conversations beyond the limit and returns their ids. `keep` is on the screen.
    pub fn evict(&mut self, keep: Option<ConversationId>) -> Vec<ConversationId> {
        let mut dropped = Vec::new();
        let mut index = 0;
        while self.entries.len() > MAX_TRANSCRIPTS && index < self.entries.len() {
            let entry = &self.entries[index];
            let is_running = |transcript: &Transcript| transcript.active_run().is_some();
            let idle = !entry.replica.is_loading() && !entry.replica.get().is_some_and(is_running);
            if idle && Some(entry.id) != keep {
                dropped.push(self.entries.remove(index).id);
            } else {
                index += 1;
            }
        }
        dropped
    }

    /// Drops all but `keep` and returns their ids, because the log no longer has the events that follow them.
    pub fn retain_only(&mut self, keep: Option<ConversationId>) -> Vec<ConversationId> {
        let (kept, dropped): (Vec<_>, Vec<_>) = std::mem::take(&mut self.entries)
            .into_iter()
            .partition(|entry| Some(entry.id) == keep);
        self.entries = kept;
        dropped.into_iter().map(|entry| entry.id).collect()
    }

    fn index(&self, id: ConversationId) -> Option<usize> {
        self.entries.iter().rposition(|entry| entry.id == id)
    }
}

#[cfg(test)]
mod tests;
