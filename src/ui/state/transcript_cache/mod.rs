//! The conversations that this browser holds: pure state, no signals, no requests.
//!
//! A conversation stays on the shelf when the person goes elsewhere and keeps applying events, so that
//! coming back shows it as if one had never left. While a snapshot is on its way its events wait in a buffer;
//! the snapshot says what it includes, the reducer skips that, so nothing is missed and nothing doubled,
//! whichever comes first.

use crate::protocol::{
    ConversationId, Event, MessageId, OlderMessages, Position, Transcript,
    transcript::{self, TranscriptUpdate},
};

/// Beyond this many, the one that was looked at longest ago is dropped.
const MAX_TRANSCRIPTS: usize = 20;
/// So many messages stay here of a conversation that nobody looks at: about as many as the server gives at a time.
const MAX_IDLE_MESSAGES: usize = 20;
/// A snapshot that its own events do not fit to is asked for again this often.
const MAX_SNAPSHOT_ATTEMPTS: u8 = 3;

#[derive(Debug)]
struct Entry {
    transcript: Transcript,
    /// `false` until a snapshot has come: there is nothing to show yet.
    is_ready: bool,
    /// While a snapshot is asked for: the events that came meanwhile.
    buffer: Option<Vec<Event>>,
    /// How far the stream had come when it was asked for.
    requested_at: Position,
    /// The last snapshot could not be had: what is shown is old, and events do not fit to it.
    is_behind: bool,
    attempts: u8,
}

/// What an event, or a snapshot, did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheOutcome {
    /// Nothing to show.
    Unchanged,
    Touched(TranscriptUpdate),
    /// All of the conversation is new.
    Replaced,
    /// Its snapshot has to be asked for.
    NeedsSnapshot,
    /// Snapshots and events don't fit together; given up.
    Broken,
}

/// The conversations, the one looked at last at the end.
#[derive(Debug, Default)]
pub struct TranscriptCache {
    entries: Vec<Entry>,
    /// The last position that the stream has brought.
    pub cursor: Position,
}

impl Entry {
    fn begin_request(&mut self, cursor: Position, came_already: Vec<Event>) {
        self.attempts = 0;
        self.buffer = Some(came_already);
        self.requested_at = cursor;
    }
}

impl TranscriptCache {
    /// Puts a conversation here that is complete: from the page, or just begun.
    pub fn insert(&mut self, transcript: Transcript) {
        let id = transcript.conversation_id;
        self.entries
            .retain(|entry| entry.transcript.conversation_id != id);
        self.entries.push(Entry {
            transcript,
            is_ready: true,
            buffer: None,
            requested_at: Position(0),
            is_behind: false,
            attempts: 0,
        });
    }

    /// The person looks at a conversation: true if its snapshot has to be asked for.
    pub fn open(&mut self, id: ConversationId) -> bool {
        if let Some(index) = self.index(id) {
            let entry = self.entries.remove(index);
            let load = (!entry.is_ready || entry.is_behind) && entry.buffer.is_none();
            self.entries.push(entry);
            if !load {
                return false;
            }
        } else {
            self.entries.push(Entry {
                transcript: Transcript::new(id),
                is_ready: false,
                buffer: None,
                requested_at: Position(0),
                is_behind: false,
                attempts: 0,
            });
        }
        if let Some(entry) = self.entries.last_mut() {
            entry.begin_request(self.cursor, Vec::new());
        }
        true
    }

    /// Whether the conversation can be shown.
    pub fn get(&self, id: ConversationId) -> Option<&Transcript> {
        let entry = &self.entries[self.index(id)?];
        entry.is_ready.then_some(&entry.transcript)
    }

    /// Whether what is shown is known to be old.
    pub fn is_behind(&self, id: ConversationId) -> bool {
        self.index(id).is_some_and(|index| self.entries[index].is_behind)
    }

    /// Something is known to be missing in a conversation that is here: true if its snapshot has to be asked for.
    pub fn request_reload(&mut self, id: ConversationId) -> bool {
        let Some(index) = self.index(id) else {
            return false;
        };
        let entry = &mut self.entries[index];
        let ask = entry.buffer.is_none();
        if ask {
            entry.begin_request(self.cursor, Vec::new());
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
                entry.begin_request(self.cursor, vec![event.clone()]);
                CacheOutcome::NeedsSnapshot
            }
        }
    }

    /// A snapshot arrived.
    pub fn apply_snapshot(&mut self, snapshot: Transcript) -> CacheOutcome {
        let Some(index) = self.index(snapshot.conversation_id) else {
            return CacheOutcome::Unchanged;
        };
        let entry = &mut self.entries[index];
        if snapshot.as_of < entry.requested_at {
            // The answer to an earlier question, from before everything was loaded anew.
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

    /// The first message that is shown of a conversation: a new snapshot goes back that far.
    pub fn first_shown(&self, id: ConversationId) -> Option<MessageId> {
        self.get(id)?.shown_branch().first().map(|first| first.id)
    }

    /// A page of older messages arrived.
    pub fn prepend(&mut self, id: ConversationId, older: OlderMessages) -> CacheOutcome {
        let Some(index) = self.index(id) else {
            return CacheOutcome::Unchanged;
        };
        // A snapshot that is on its way may not go back as far; then this is asked for again.
        self.entries[index].transcript.prepend(older);
        CacheOutcome::Replaced
    }

    /// Nobody looks at a conversation any more: keeps the newest of its messages. True if there were more.
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

    /// The snapshot could not be had. What is shown stays; opening it again asks again.
    pub fn fail_snapshot(&mut self, id: ConversationId) {
        let Some(index) = self.index(id) else { return };
        let entry = &mut self.entries[index];
        if entry.is_ready {
            // The events that came meanwhile are in the next snapshot.
            entry.buffer = None;
            entry.is_behind = true;
        } else {
            self.entries.remove(index);
        }
    }

    /// Drops the idle conversations beyond the limit, and gives their ids. `keep` is on the screen.
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

    /// Drops all but `keep`, and gives their ids: the log no longer tells how they went on.
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
