//! The only writer: takes changes from runs and intents, commits those that have come together as one
//! transaction, then publishes their events.
//!
//! An idle journal commits the first change at once; a busy one commits whatever came while the previous
//! commit was under way. There is no fixed delay. Its queue is bounded: when it is full, whoever hands in a
//! change waits, and so a run stops reading from its model.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use tokio::sync::{mpsc, oneshot, watch};

use self::writer::JournalWriter;
use crate::{
    hub::Hub,
    protocol::{AssistantMessage, EventBody, MessageId, Payload, PlacedOpaque},
    storage::{
        Change, ChangeRejection, Outcome, RecordedCall, RunKey, Storage, StorageErrorKind, StoredAttachment,
    },
};

mod writer;

/// How many changes may wait.
const QUEUE_CAPACITY: usize = 1024;

/// How long a delta may become by joining others: who reads the log holds whole events in memory.
const MAX_MERGED_DELTA_BYTES: usize = 16 << 10;

/// How long the journal waits before it tries again what could not be committed: at first, and at most.
const RETRY_DELAY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// Why a change was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    #[error(transparent)]
    Rejected(#[from] ChangeRejection),
    /// Storage did not work. Nothing was changed.
    #[error("storage does not work")]
    Unavailable(StorageErrorKind),
}

/// The way to the writer. Clones lead to the same one.
///
/// What people want has a queue of its own: it need not stand behind all that runs produce, and while storage does not work it is
/// refused at once, whereas what runs produce waits. Between the two queues there is no order, and none is needed: a run
/// produces only what comes after the commit of its start.
#[derive(Clone, Debug)]
pub struct Journal {
    intents: mpsc::Sender<Entry>,
    output: mpsc::Sender<Entry>,
    abandoned_runs: watch::Receiver<HashSet<MessageId>>,
}

#[derive(Debug)]
struct Entry {
    change: Change,
    /// Told what became of the change; a run's output has nobody who waits.
    reply: Option<OutcomeSender>,
}

type OutcomeSender = oneshot::Sender<Result<Outcome, JournalError>>;

impl Journal {
    /// Starts the writer. It ends when the last journal to it is dropped and all is written.
    pub fn start(storage: Arc<dyn Storage>, hub: Arc<Hub>) -> (Self, tokio::task::JoinHandle<()>) {
        let (intents, wanted) = mpsc::channel(QUEUE_CAPACITY);
        let (output, produced) = mpsc::channel(QUEUE_CAPACITY);
        let queues = ChangeQueues {
            intents: wanted,
            output: produced,
        };
        let (gives_up, given_up) = watch::channel(HashSet::new());
        let writer = JournalWriter {
            storage,
            hub,
            queues,
            abandoned_runs: gives_up,
        };
        let journal = Self {
            intents,
            output,
            abandoned_runs: given_up,
        };
        (journal, tokio::spawn(writer.run()))
    }

    /// Ready when something that a run has produced was lost, because the database is damaged: nothing more of it is taken but
    /// its end.
    pub async fn wait_until_abandoned(&self, run: MessageId) {
        let mut given_up = self.abandoned_runs.clone();
        if given_up.wait_for(|runs| runs.contains(&run)).await.is_err() {
            // The writer is gone: the process ends.
            std::future::pending().await
        }
    }

    /// Makes a change and waits until it is committed and published.
    pub async fn submit(&self, change: Change) -> Result<Outcome, JournalError> {
        let (done, outcome) = oneshot::channel();
        let queue = if is_run_output(&change) {
            &self.output
        } else {
            &self.intents
        };
        let entry = Entry {
            change,
            reply: Some(done),
        };
        // The writer is gone: the process ends.
        let gone = JournalError::Unavailable(StorageErrorKind::Other);
        queue.send(entry).await.map_err(|_| gone)?;
        outcome.await.map_err(|_| gone)?
    }

    /// Adds to a run's output. It is committed in order, and never lost while the process lives.
    pub async fn append(&self, run: RunKey, events: Vec<EventBody>) {
        self.enqueue(Change::AppendEvents { run, events }).await;
    }

    /// Waits until all that a run has handed in is committed.
    ///
    /// # Errors
    ///
    /// If there is no such run any more, or no journal.
    pub async fn flush(&self, run: RunKey) -> Result<(), JournalError> {
        let nothing = Change::AppendEvents {
            run,
            events: Vec::new(),
        };
        self.submit(nothing).await.map(|_| ())
    }

    /// Has what a run has come to stored in one piece.
    pub async fn store_message(&self, run: RunKey, message: AssistantMessage) {
        self.enqueue(Change::StoreMessage { run, message }).await;
    }

    /// Keeps something that a run has made for the panel. What the run hands in next comes after it.
    pub async fn store_payload(&self, run: RunKey, payload: Payload) {
        self.enqueue(Change::StorePayload { run, payload }).await;
    }

    /// Keeps what only a model's provider understands. What the run hands in next comes after it.
    pub async fn store_opaque(&self, run: RunKey, placed: PlacedOpaque) {
        self.enqueue(Change::StoreOpaque { run, placed }).await;
    }

    /// Writes down how a run has called its model; of the conversation's other runs, for the newest ones only.
    pub async fn record_call(&self, run: RunKey, call: RecordedCall, keep_runs: usize) {
        self.enqueue(Change::RecordCall { run, call, keep_runs }).await;
    }

    /// The same for a file that a tool has given.
    pub async fn store_attachment(&self, run: RunKey, attachment: StoredAttachment) {
        self.enqueue(Change::StoreAttachment { run, attachment }).await;
    }

    async fn enqueue(&self, change: Change) {
        // The writer ends only after the last sender is gone.
        let _ = self.output.send(Entry { change, reply: None }).await;
    }
}

/// What a run has produced, as against what a person wants.
fn is_run_output(change: &Change) -> bool {
    matches!(
        change,
        Change::AppendEvents { .. }
            | Change::StoreMessage { .. }
            | Change::StorePayload { .. }
            | Change::StoreOpaque { .. }
            | Change::StoreSummary { .. }
            | Change::RecordCall { .. }
            | Change::StoreAttachment { .. }
            | Change::PauseRun { .. }
            | Change::EndRun { .. }
            | Change::AbandonRun { .. }
    )
}

struct ChangeQueues {
    intents: mpsc::Receiver<Entry>,
    output: mpsc::Receiver<Entry>,
}

impl ChangeQueues {
    /// Waits for something and takes all that is there; nothing when all journals are gone.
    async fn recv_all(&mut self) -> Vec<Entry> {
        let mut came = Vec::new();
        tokio::select! {
            biased;
            Some(entry) = self.intents.recv() => came.push(entry),
            Some(entry) = self.output.recv() => came.push(entry),
            else => {}
        }
        for queue in [&mut self.intents, &mut self.output] {
            // No more than it can hold: what is added meanwhile has its turn with the next commit.
            came.extend(std::iter::from_fn(|| queue.try_recv().ok()).take(QUEUE_CAPACITY));
        }
        came
    }

    /// Lets time pass, and tells everybody who wants something meanwhile why storage does not work.
    async fn reject_intents_for(&mut self, time: Duration, trouble: StorageErrorKind) {
        let over = tokio::time::sleep(time);
        tokio::pin!(over);
        loop {
            tokio::select! {
                () = &mut over => return,
                Some(entry) = self.intents.recv() => reject(entry.reply, trouble),
            }
        }
    }
}

fn reject(done: Option<OutcomeSender>, trouble: StorageErrorKind) {
    if let Some(done) = done {
        // Who asked may have gone.
        let _ = done.send(Err(JournalError::Unavailable(trouble)));
    }
}

/// A person is told at once that storage does not work. What runs have produced is kept and tried again.
fn retain_run_output(
    changes: Vec<Change>,
    waiting: Vec<Option<OutcomeSender>>,
    trouble: StorageErrorKind,
) -> (Vec<Change>, Vec<Option<OutcomeSender>>) {
    let (output, wanted): (Vec<_>, Vec<_>) = changes
        .into_iter()
        .zip(waiting)
        .partition(|(change, _)| is_run_output(change));
    wanted.into_iter().for_each(|(_, done)| reject(done, trouble));
    output.into_iter().unzip()
}

/// Joins what one run has appended several times, and adjacent deltas of the same part.
fn merge_appends(entries: impl Iterator<Item = Entry>) -> Vec<Entry> {
    let mut merged: Vec<Entry> = Vec::new();
    // Where in `merged` a run may still be added to.
    let mut open: HashMap<MessageId, usize> = HashMap::new();
    for entry in entries {
        let Change::AppendEvents { run, events } = entry.change else {
            // What was produced is stored, a run ends, a conversation is deleted: nothing may move across it.
            open.clear();
            merged.push(entry);
            continue;
        };
        // Who waits for a change of its own hears of that one alone.
        let joinable = entry.reply.is_none();
        match open.get(&run.message_id).and_then(|index| merged.get_mut(*index)) {
            Some(Entry {
                change: Change::AppendEvents { events: earlier, .. },
                ..
            }) if joinable => {
                for event in events {
                    push_or_merge(earlier, event);
                }
            }
            _ => {
                open.insert(run.message_id, merged.len());
                merged.push(Entry {
                    change: Change::AppendEvents { run, events },
                    reply: entry.reply,
                });
            }
        }
    }
    merged
}

fn push_or_merge(events: &mut Vec<EventBody>, event: EventBody) {
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
        ) if (*node, *part) == (*next_node, *next_part)
            && text.len() + next.len() <= MAX_MERGED_DELTA_BYTES =>
        {
            text.push_str(next);
        }
        _ => events.push(event),
    }
}

#[cfg(test)]
mod tests;
