//! The conversations that this browser holds: pure state, no signals, no requests.
//!
//! A conversation that was left stays in the cache and keeps applying events, so that it is up to date when the user
//! returns. While a snapshot is being loaded, the conversation's events are buffered. The reducer skips those that the
//! snapshot includes, so no event is missed or applied twice, whichever comes first.

use parlor_protocol::{
    ConversationId, Event, MessageId, OlderMessages, Position, Transcript,
    transcript::{self, TranscriptUpdate},
};

/// Beyond this limit, the least recently viewed conversation is dropped.
const MAX_TRANSCRIPTS: usize = 20;
/// The number of messages kept of a conversation that is not viewed: about one page of the server.
const MAX_IDLE_MESSAGES: usize = 20;
/// The attempts to load a snapshot whose events contradict it.
const MAX_SNAPSHOT_ATTEMPTS: u8 = 3;

#[derive(Debug)]
struct CachedTranscript {
    transcript: Transcript,
    /// True once a snapshot has arrived. Until then there is nothing to show.
    is_ready: bool,
    /// The events received while a snapshot is being loaded.
    buffer: Option<Vec<Event>>,
    /// A snapshot from before this position is the response to an earlier request.
    requested_at: Position,
    /// True if the last snapshot could not be loaded: the transcript is stale, and events do not apply to it.
    is_behind: bool,
    attempts: u8,
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
    fn begin_request(&mut self, cursor: Position, came_already: Vec<Event>) {
        self.attempts = 0;
        self.buffer = Some(came_already);
        self.requested_at = cursor;
    }
}

impl TranscriptCache {
    /// Adds a complete conversation: from the page's snapshot, or a new one.
    pub fn insert(&mut self, transcript: Transcript) {
        let id = transcript.conversation_id;
        self.entries
            .retain(|entry| entry.transcript.conversation_id != id);
        self.entries.push(CachedTranscript {
            transcript,
            is_ready: true,
            buffer: None,
            requested_at: Position(0),
            is_behind: false,
            attempts: 0,
        });
    }

    /// Marks a conversation as viewed. Returns true if its snapshot has to be requested. `cursor` is the last position
    /// that the stream has brought.
    pub fn open(&mut self, id: ConversationId, cursor: Position) -> bool {
        if let Some(index) = self.index(id) {
            let entry = self.entries.remove(index);
            let load = (!entry.is_ready || entry.is_behind) && entry.buffer.is_none();
            self.entries.push(entry);
            if !load {
                return false;
            }
        } else {
            self.entries.push(CachedTranscript {
                transcript: Transcript::new(id),
                is_ready: false,
                buffer: None,
                requested_at: Position(0),
                is_behind: false,
                attempts: 0,
            });
        }
        if let Some(entry) = self.entries.last_mut() {
            entry.begin_request(cursor, Vec::new());
        }
        true
    }

    /// The transcript, if it can be shown.
    pub fn get(&self, id: ConversationId) -> Option<&Transcript> {
        let entry = &self.entries[self.index(id)?];
        entry.is_ready.then_some(&entry.transcript)
    }

    /// Returns true if the transcript is known to be stale.
    pub fn is_behind(&self, id: ConversationId) -> bool {
        self.index(id).is_some_and(|index| self.entries[index].is_behind)
    }

    /// Begins a request for the snapshot of a cached conversation. Returns true if the caller has to send it: the
    /// conversation is cached and no request is under way. The request is made as by [`open`](Self::open).
    pub fn begin_reload(&mut self, id: ConversationId, cursor: Position) -> bool {
        let Some(index) = self.index(id) else {
            return false;
        };
        let entry = &mut self.entries[index];
        let ask = entry.buffer.is_none();
        if ask {
            entry.begin_request(cursor, Vec::new());
        }
        ask
    }

    /// Applies an event.
    pub fn apply(&mut self, event: &Event) -> CacheOutcome {
        let Some(index) = self.index(event.conversation_id) else {
            return CacheOutcome::Unchanged;
        };
        let entry = &mut self.entries[index];
        if let Some(buffer) = &mut entry.buffer {
            buffer.push(event.clone());
            return CacheOutcome::Unchanged;
        }
        if !entry.is_ready || entry.is_behind {
            return CacheOutcome::Unchanged;
        }
        match transcript::apply(&mut entry.transcript, event) {
            Ok(TranscriptUpdate::Nothing) => CacheOutcome::Unchanged,
            Ok(touched) => CacheOutcome::Touched(touched),
            Err(_) => {
                entry.begin_request(entry.transcript.as_of, vec![event.clone()]);
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
        if snapshot.as_of < entry.requested_at {
            // The response to a request from before everything was loaded again.
            return CacheOutcome::Unchanged;
        }
        let Some(buffer) = entry.buffer.take() else {
            return CacheOutcome::Unchanged;
        };
        entry.transcript = snapshot;
        entry.is_behind = false;
        for event in &buffer {
            if transcript::apply(&mut entry.transcript, event).is_err() {
                entry.attempts += 1;
                if entry.attempts >= MAX_SNAPSHOT_ATTEMPTS {
                    entry.is_ready = false;
                    return CacheOutcome::Broken;
                }
                entry.buffer = Some(buffer);
                return CacheOutcome::NeedsSnapshot;
            }
        }
        entry.is_ready = true;
        CacheOutcome::Replaced
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
        // A pending snapshot may not reach back as far; then it is requested again.
        self.entries[index].transcript.prepend(older);
        CacheOutcome::Replaced
    }

    /// Keeps only the newest messages of a conversation that was left. Returns true if there were more.
    pub fn trim(&mut self, id: ConversationId) -> bool {
        let Some(index) = self.index(id) else {
            return false;
        };
        let entry = &mut self.entries[index];
        let long = entry.buffer.is_none() && entry.transcript.messages.len() > MAX_IDLE_MESSAGES;
        if long {
            entry.transcript.truncate_to_newest(MAX_IDLE_MESSAGES);
        }
        long
    }

    /// Records that the snapshot could not be loaded. The transcript stays; opening it again requests the snapshot
    /// again.
    pub fn fail_snapshot(&mut self, id: ConversationId) {
        let Some(index) = self.index(id) else { return };
        let entry = &mut self.entries[index];
        if entry.is_ready {
            // The next snapshot includes the buffered events.
            entry.buffer = None;
            entry.is_behind = true;
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
            let id = entry.transcript.conversation_id;
            let idle = entry.buffer.is_none() && entry.transcript.active_run().is_none();
            if idle && Some(id) != keep {
                self.entries.remove(index);
                dropped.push(id);
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
            .partition(|entry| Some(entry.transcript.conversation_id) == keep);
        self.entries = kept;
        dropped
            .into_iter()
            .map(|entry| entry.transcript.conversation_id)
            .collect()
    }

    fn index(&self, id: ConversationId) -> Option<usize> {
        self.entries
            .iter()
            .rposition(|entry| entry.transcript.conversation_id == id)
    }
}

#[cfg(test)]
mod tests;
