//! The only writer: takes changes from runs and intents, commits those that have come together as one
//! transaction, then publishes their events.
//!
//! An idle journal commits the first change at once; a busy one commits whatever came while the previous
//! commit was under way. There is no fixed delay. Its queue is bounded: when it is full, whoever hands in a
//! change waits, and so a run stops reading from its model.

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::sync::{mpsc, oneshot};

use crate::{
    clock,
    hub::Hub,
    protocol::{EventBody, MessageId},
    storage::{Change, Outcome, Refusal, RunKey, Storage},
};

/// How many changes may wait.
const QUEUE: usize = 1024;

/// How long the journal waits before it tries again what could not be committed: at first, and at most.
const RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// Why a change was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Storage did not work. Nothing was changed.
    #[error("storage does not work")]
    Unavailable,
}

/// The way to the writer. Clones lead to the same one.
#[derive(Clone, Debug)]
pub struct Journal {
    queue: mpsc::Sender<Entry>,
}

#[derive(Debug)]
struct Entry {
    change: Change,
    /// Told what became of the change; a run's output has nobody who waits.
    done: Option<oneshot::Sender<Result<Outcome, JournalError>>>,
}

impl Journal {
    /// Starts the writer. It ends when the last journal to it is dropped and all is written.
    pub fn start(storage: Arc<dyn Storage>, hub: Arc<Hub>) -> (Self, tokio::task::JoinHandle<()>) {
        let (queue, entries) = mpsc::channel(QUEUE);
        let writer = tokio::spawn(write(storage, hub, entries));
        (Self { queue }, writer)
    }

    /// Makes a change and waits until it is committed and published.
    pub async fn submit(&self, change: Change) -> Result<Outcome, JournalError> {
        let (done, outcome) = oneshot::channel();
        let entry = Entry {
            change,
            done: Some(done),
        };
        self.queue
            .send(entry)
            .await
            .map_err(|_| JournalError::Unavailable)?;
        outcome.await.map_err(|_| JournalError::Unavailable)?
    }

    /// Adds to a run's output. It is committed in order, and never lost while the process lives.
    pub async fn append(&self, run: RunKey, events: Vec<EventBody>) {
        let entry = Entry {
            change: Change::Append { run, events },
            done: None,
        };
        // The writer ends only after the last sender is gone.
        let _ = self.queue.send(entry).await;
    }
}

async fn write(storage: Arc<dyn Storage>, hub: Arc<Hub>, mut entries: mpsc::Receiver<Entry>) {
    let mut came = Vec::with_capacity(QUEUE);
    while entries.recv_many(&mut came, QUEUE).await > 0 {
        let (mut changes, mut waiting): (Vec<_>, Vec<_>) = merge(came.drain(..))
            .into_iter()
            .map(|entry| (entry.change, entry.done))
            .unzip();
        let mut delay = RETRY.0;
        while !changes.is_empty() {
            match storage.commit(clock::now(), &changes).await {
                Ok(committed) => {
                    hub.publish(&committed.events);
                    for (done, outcome) in waiting.drain(..).zip(committed.outcomes) {
                        if let Some(done) = done {
                            // Who asked may have gone; the change is made all the same.
                            let _ = done.send(outcome.map_err(JournalError::from));
                        }
                    }
                    break;
                }
                Err(error) => {
                    tracing::error!(%error, "could not commit; trying again in {delay:?}");
                    refuse_intents(&mut changes, &mut waiting);
                    tokio::time::sleep(delay).await;
                    delay = (delay * 2).min(RETRY.1);
                }
            }
        }
    }
}

/// A person is told at once that storage does not work. What runs have produced is kept and tried again.
fn refuse_intents(
    changes: &mut Vec<Change>,
    waiting: &mut Vec<Option<oneshot::Sender<Result<Outcome, JournalError>>>>,
) {
    let entries = std::mem::take(changes).into_iter().zip(std::mem::take(waiting));
    for (change, done) in entries {
        if matches!(change, Change::Append { .. } | Change::End { .. }) {
            changes.push(change);
            waiting.push(done);
        } else if let Some(done) = done {
            let _ = done.send(Err(JournalError::Unavailable));
        }
    }
}

/// Joins what one run has appended several times, and adjacent deltas of the same part.
fn merge(entries: impl Iterator<Item = Entry>) -> Vec<Entry> {
    let mut merged: Vec<Entry> = Vec::new();
    // Where in `merged` a run may still be added to.
    let mut open: HashMap<MessageId, usize> = HashMap::new();
    for entry in entries {
        let Change::Append { run, events } = entry.change else {
            // An end, or a deletion: nothing may move across it.
            open.clear();
            merged.push(entry);
            continue;
        };
        // Who waits for a change of its own hears of that one alone.
        let joinable = entry.done.is_none();
        match open.get(&run.message_id).and_then(|index| merged.get_mut(*index)) {
            Some(Entry {
                change: Change::Append { events: earlier, .. },
                ..
            }) if joinable => {
                for event in events {
                    push_merged(earlier, event);
                }
            }
            _ => {
                open.insert(run.message_id, merged.len());
                merged.push(Entry {
                    change: Change::Append { run, events },
                    done: entry.done,
                });
            }
        }
    }
    merged
}

fn push_merged(events: &mut Vec<EventBody>, event: EventBody) {
    use EventBody::{TextDelta, Thinking};
    match (events.last_mut(), &event) {
        (
            Some(TextDelta { node, part, text, .. }),
            TextDelta {
                node: next_node,
                part: next_part,
                text: next,
                ..
            },
        )
        | (
            Some(Thinking { node, part, text, .. }),
            Thinking {
                node: next_node,
                part: next_part,
                text: next,
                ..
            },
        ) if (*node, *part) == (*next_node, *next_part) => text.push_str(next),
        _ => events.push(event),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{ConversationId, UserId};

    fn run() -> RunKey {
        RunKey {
            user_id: UserId::LOCAL,
            conversation_id: ConversationId::new(),
            message_id: MessageId::new(),
        }
    }

    fn text(offset: usize, text: &str) -> EventBody {
        EventBody::TextDelta {
            node: 0,
            part: 0,
            offset,
            text: text.into(),
        }
    }

    fn append(run: RunKey, event: EventBody) -> Entry {
        Entry {
            change: Change::Append {
                run,
                events: vec![event],
            },
            done: None,
        }
    }

    #[test]
    fn deltas_of_one_part_are_joined_and_nothing_moves_across_another_change() {
        let (a, b) = (run(), run());
        let rename = || Change::Rename {
            user_id: UserId::LOCAL,
            conversation_id: a.conversation_id,
            title: "x".into(),
        };
        let merged = merge(
            [
                append(a, text(0, "He")),
                append(b, text(0, "1")),
                append(a, text(2, "llo")),
                append(
                    b,
                    EventBody::Status {
                        message: "busy".into(),
                    },
                ),
                append(b, text(1, "2")),
                Entry {
                    change: rename(),
                    done: None,
                },
                append(a, text(5, "!")),
            ]
            .into_iter(),
        );
        let seen: Vec<String> = merged.iter().map(|entry| format!("{:?}", entry.change)).collect();
        let expected = [
            Change::Append {
                run: a,
                events: vec![text(0, "Hello")],
            },
            Change::Append {
                run: b,
                events: vec![
                    text(0, "1"),
                    EventBody::Status {
                        message: "busy".into(),
                    },
                    text(1, "2"),
                ],
            },
            rename(),
            Change::Append {
                run: a,
                events: vec![text(5, "!")],
            },
        ];
        assert_eq!(seen, expected.map(|change| format!("{change:?}")));
    }
}
