//! The conversations that this browser holds: pure state, no signals, no requests.
//!
//! A conversation stays on the shelf when the person goes elsewhere and keeps applying events, so that
//! coming back shows it as if one had never left. While a snapshot is on its way its events wait in a buffer;
//! the snapshot says what it includes, the reducer skips that, so nothing is missed and nothing doubled,
//! whichever comes first.

use crate::protocol::{
    ConversationId, Event, MessageId, OlderMessages, Position, Transcript,
    transcript::{self, Touched},
};

/// Beyond this many, the one that was looked at longest ago is dropped.
const LIMIT: usize = 20;
/// So many messages stay here of a conversation that nobody looks at: about as many as the server gives at a time.
const NEWEST: usize = 20;
/// A snapshot that its own events do not fit to is asked for again this often.
const TRIES: u8 = 3;

#[derive(Debug)]
struct Entry {
    transcript: Transcript,
    /// `false` until a snapshot has come: there is nothing to show yet.
    ready: bool,
    /// While a snapshot is asked for: the events that came meanwhile.
    buffer: Option<Vec<Event>>,
    /// How far the stream had come when it was asked for.
    asked_at: Position,
    /// The last snapshot could not be had: what is shown is old, and events do not fit to it.
    behind: bool,
    tries: u8,
}

/// What an event, or a snapshot, did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing to show.
    Nothing,
    Touched(Touched),
    /// All of the conversation is new.
    Replaced,
    /// Its snapshot has to be asked for.
    Load,
    /// Snapshots and events don't fit together; given up.
    Broken,
}

/// The conversations, the one looked at last at the end.
#[derive(Debug, Default)]
pub struct Shelf {
    entries: Vec<Entry>,
    /// The last position that the stream has brought.
    pub cursor: Position,
}

impl Entry {
    fn ask(&mut self, cursor: Position, came_already: Vec<Event>) {
        self.tries = 0;
        self.buffer = Some(came_already);
        self.asked_at = cursor;
    }
}

impl Shelf {
    /// Puts a conversation here that is complete: from the page, or just begun.
    pub fn put(&mut self, transcript: Transcript) {
        let id = transcript.conversation_id;
        self.entries
            .retain(|entry| entry.transcript.conversation_id != id);
        self.entries.push(Entry {
            transcript,
            ready: true,
            buffer: None,
            asked_at: Position(0),
            behind: false,
            tries: 0,
        });
    }

    /// The person looks at a conversation: true if its snapshot has to be asked for.
    pub fn open(&mut self, id: ConversationId) -> bool {
        if let Some(index) = self.index(id) {
            let entry = self.entries.remove(index);
            let load = (!entry.ready || entry.behind) && entry.buffer.is_none();
            self.entries.push(entry);
            if !load {
                return false;
            }
        } else {
            self.entries.push(Entry {
                transcript: Transcript::new(id),
                ready: false,
                buffer: None,
                asked_at: Position(0),
                behind: false,
                tries: 0,
            });
        }
        if let Some(entry) = self.entries.last_mut() {
            entry.ask(self.cursor, Vec::new());
        }
        true
    }

    /// Whether the conversation can be shown.
    pub fn get(&self, id: ConversationId) -> Option<&Transcript> {
        let entry = &self.entries[self.index(id)?];
        entry.ready.then_some(&entry.transcript)
    }

    /// Whether what is shown is known to be old.
    pub fn is_behind(&self, id: ConversationId) -> bool {
        self.index(id).is_some_and(|index| self.entries[index].behind)
    }

    /// Something is known to be missing in a conversation that is here: true if its snapshot has to be asked for.
    pub fn ask_again(&mut self, id: ConversationId) -> bool {
        let Some(index) = self.index(id) else {
            return false;
        };
        let entry = &mut self.entries[index];
        let ask = entry.buffer.is_none();
        if ask {
            entry.ask(self.cursor, Vec::new());
        }
        ask
    }

    /// Applies an event.
    pub fn apply(&mut self, event: &Event) -> Outcome {
        let Some(index) = self.index(event.conversation_id) else {
            return Outcome::Nothing;
        };
        let entry = &mut self.entries[index];
        if let Some(buffer) = &mut entry.buffer {
            buffer.push(event.clone());
            return Outcome::Nothing;
        }
        if !entry.ready || entry.behind {
            return Outcome::Nothing;
        }
        match transcript::apply(&mut entry.transcript, event) {
            Ok(Touched::Nothing) => Outcome::Nothing,
            Ok(touched) => Outcome::Touched(touched),
            Err(_) => {
                entry.ask(self.cursor, vec![event.clone()]);
                Outcome::Load
            }
        }
    }

    /// A snapshot arrived.
    pub fn loaded(&mut self, snapshot: Transcript) -> Outcome {
        let Some(index) = self.index(snapshot.conversation_id) else {
            return Outcome::Nothing;
        };
        let entry = &mut self.entries[index];
        if snapshot.as_of < entry.asked_at {
            // The answer to an earlier question, from before everything was loaded anew.
            return Outcome::Nothing;
        }
        let Some(buffer) = entry.buffer.take() else {
            return Outcome::Nothing;
        };
        entry.transcript = snapshot;
        entry.behind = false;
        for event in &buffer {
            if transcript::apply(&mut entry.transcript, event).is_err() {
                entry.tries += 1;
                if entry.tries >= TRIES {
                    entry.ready = false;
                    return Outcome::Broken;
                }
                entry.buffer = Some(buffer);
                return Outcome::Load;
            }
        }
        entry.ready = true;
        Outcome::Replaced
    }

    /// The first message that is shown of a conversation: a new snapshot goes back that far.
    pub fn reach(&self, id: ConversationId) -> Option<MessageId> {
        self.get(id)?.branch().first().map(|first| first.id)
    }

    /// A page of older messages arrived.
    pub fn prepend(&mut self, id: ConversationId, older: OlderMessages) -> Outcome {
        let Some(index) = self.index(id) else {
            return Outcome::Nothing;
        };
        // A snapshot that is on its way may not go back as far; then this is asked for again.
        self.entries[index].transcript.prepend(older);
        Outcome::Replaced
    }

    /// Nobody looks at a conversation any more: keeps the newest of its messages. True if there were more.
    pub fn trim(&mut self, id: ConversationId) -> bool {
        let Some(index) = self.index(id) else {
            return false;
        };
        let entry = &mut self.entries[index];
        let long = entry.buffer.is_none() && entry.transcript.messages.len() > NEWEST;
        if long {
            entry.transcript.keep_newest(NEWEST);
        }
        long
    }

    /// The snapshot could not be had. What is shown stays; opening it again asks again.
    pub fn failed(&mut self, id: ConversationId) {
        let Some(index) = self.index(id) else { return };
        let entry = &mut self.entries[index];
        if entry.ready {
            // The events that came meanwhile are in the next snapshot.
            entry.buffer = None;
            entry.behind = true;
        } else {
            self.entries.remove(index);
        }
    }

    /// Drops the idle conversations beyond the limit, and gives their ids. `keep` is on the screen.
    pub fn evict(&mut self, keep: Option<ConversationId>) -> Vec<ConversationId> {
        let mut dropped = Vec::new();
        let mut index = 0;
        while self.entries.len() > LIMIT && index < self.entries.len() {
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
    pub fn forget_others(&mut self, keep: Option<ConversationId>) -> Vec<ConversationId> {
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
