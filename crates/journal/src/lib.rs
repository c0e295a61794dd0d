//! The journal, the only writer of changes: receives changes from runs and intents, commits the waiting ones in one
//! transaction, then publishes their events.
//!
//! An idle journal commits the first change at once. A busy one commits the changes that arrived during the
//! previous commit. There is no fixed delay. Its queues are bounded, and beside other users a user's runs take
//! turns ([`turns`]): a sender waits while the queue is full or until its turn, so a run stops reading from its model.
//! [`hub`] sends what is committed to those who follow a log.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::{mpsc, oneshot, watch};

use self::{
    lease::LeaseState,
    progress::Progress,
    turns::{Turn, Turns},
    writer::JournalWriter,
};
use crate::hub::Hub;
use parlor_base::metrics::Metrics;
use parlor_protocol::{ApiError, AssistantMessage, MessageId, Payload, PlacedProviderData, RunEvent};
use parlor_storage::{
    Change, ChangeRejection, Outcome, RecordedModelCall, RunKey, RunOutput, Storage, StorageErrorKind,
    jobs::{JobChange, JobKey, JobOutput},
};

pub mod hub;
mod lease;
mod measure;
mod progress;
mod turns;
mod writer;

pub use self::progress::WriterState;

/// The number of changes that each queue holds.
const QUEUE_CAPACITY: usize = 1024;

/// The maximum length of a merged delta. Readers of the log hold whole events in memory.
const MAX_MERGED_DELTA_BYTES: usize = 16 << 10;

/// The delay before a failed commit is retried: initial and maximum.
const RETRY_DELAY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));

/// The reason for which a change was not applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    #[error(transparent)]
    Rejected(#[from] ChangeRejection),
    /// Storage failed. Nothing was changed.
    #[error("storage is not available")]
    Unavailable(StorageErrorKind),
}

impl From<JournalError> for ApiError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Rejected(rejection) => rejection.into(),
            JournalError::Unavailable(kind) => kind.into(),
        }
    }
}

/// A handle to the writer. Clones share the writer.
///
/// Intents have their own queue: they do not wait behind the output of runs and jobs, and while storage fails they are
/// rejected at once, whereas output waits. The two queues have no common order and need none: a run or a job produces
/// output only after the commit of its start.
#[derive(Clone, Debug)]
pub struct Journal {
    intents: mpsc::Sender<QueuedChange>,
    output: mpsc::Sender<QueuedChange>,
    turns: Arc<Turns>,
    abandoned_runs: watch::Receiver<HashSet<MessageId>>,
    progress: Arc<Progress>,
    metrics: Arc<Metrics>,
    lease: Arc<LeaseState>,
}

#[derive(Debug)]
struct QueuedChange {
    change: Change,
    /// Receives the outcome of the change; `None` for output for which no caller waits.
    reply: Option<OutcomeSender>,
    /// The time at which a delta was received; `None` for other changes.
    received: Option<Instant>,
    /// The turn of a run, held until the change is taken for a commit.
    _turn: Option<Turn>,
}

impl QueuedChange {
    fn new(change: Change) -> Self {
        Self {
            change,
            reply: None,
            received: None,
            _turn: None,
        }
    }
}

type OutcomeSender = oneshot::Sender<Result<Outcome, JournalError>>;

impl Journal {
    /// Starts the writer. It ends after the last journal handle is dropped and all changes are written.
    pub fn start(storage: Arc<dyn Storage>, hub: Arc<Hub>) -> (Self, tokio::task::JoinHandle<()>) {
        let (intents, intent_receiver) = mpsc::channel(QUEUE_CAPACITY);
        let (output, output_receiver) = mpsc::channel(QUEUE_CAPACITY);
        let queues = ChangeQueues {
            intents: intent_receiver,
            output: output_receiver,
        };
        let (abandoned_sender, abandoned_runs) = watch::channel(HashSet::new());
        let turns = Arc::new(Turns::default());
        let progress = Arc::new(Progress::default());
        let metrics = hub.metrics().clone();
        let lease = Arc::new(LeaseState::default());
        let writer = JournalWriter {
            storage,
            hub,
            queues,
            turns: turns.clone(),
            abandoned_runs: abandoned_sender,
            progress: progress.clone(),
            lease: lease.clone(),
            received: Vec::new(),
        };
        let journal = Self {
            intents,
            output,
            turns,
            abandoned_runs,
            progress,
            metrics,
            lease,
        };
        (journal, tokio::spawn(writer.run()))
    }

    /// Returns the figures of the server, which are those of the hub.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Returns the numbers of intents and of output that wait for the writer.
    pub fn queue_lengths(&self) -> (usize, usize) {
        let length = |queue: &mpsc::Sender<_>| queue.max_capacity() - queue.capacity();
        (length(&self.intents), length(&self.output))
    }

    /// Returns the state of the writer.
    pub fn writer_state(&self) -> WriterState {
        match self.output.is_closed() {
            true => WriterState::Ended,
            false => self.progress.state(),
        }
    }

    /// Waits until a part of the run's output is lost because the database is damaged. From then on only the
    /// run's end is accepted.
    pub async fn wait_until_abandoned(&self, run: MessageId) {
        let mut abandoned = self.abandoned_runs.clone();
        if abandoned.wait_for(|runs| runs.contains(&run)).await.is_err() {
            // The writer has ended because the process ends.
            std::future::pending().await
        }
    }

    /// Applies a change and waits until it is committed and published.
    pub async fn submit(&self, change: Change) -> Result<Outcome, JournalError> {
        let (reply, outcome) = oneshot::channel();
        let queue = if change.is_output() {
            &self.output
        } else {
            &self.intents
        };
        let entry = QueuedChange {
            reply: Some(reply),
            ..QueuedChange::new(change)
        };
        // The writer has ended because the process ends.
        let writer_ended = JournalError::Unavailable(StorageErrorKind::Other);
        queue.send(entry).await.map_err(|_| writer_ended)?;
        outcome.await.map_err(|_| writer_ended)?
    }

    /// Appends to a run's output. The events are committed in order, and are not lost while the process
    /// lives.
    pub async fn append(&self, run: RunKey, events: Vec<RunEvent>) {
        self.enqueue(run, RunOutput::AppendEvents { events }).await;
    }

    /// Waits until all changes submitted by a run so far are committed.
    ///
    /// # Errors
    ///
    /// If the run no longer exists, or the journal has ended.
    pub async fn flush(&self, run: RunKey) -> Result<(), JournalError> {
        let nothing = Change::Output {
            run,
            output: RunOutput::AppendEvents { events: Vec::new() },
        };
        self.submit(nothing).await.map(|_| ())
    }

    /// Stores the run's message so far.
    pub async fn store_message(&self, run: RunKey, message: AssistantMessage) {
        self.enqueue(run, RunOutput::StoreMessage { message }).await;
    }

    /// Stores a payload. Later changes of the run are committed after it.
    pub async fn store_payload(&self, run: RunKey, payload: Payload) {
        self.enqueue(run, RunOutput::StorePayload { payload }).await;
    }

    /// Stores provider-specific data. Later changes of the run are committed after it.
    pub async fn store_provider_data(&self, run: RunKey, placed: PlacedProviderData) {
        self.enqueue(run, RunOutput::StoreProviderData { placed }).await;
    }

    /// Records a model call. Only the newest `keep_runs` runs of the conversation keep their calls.
    pub async fn record_call(&self, run: RunKey, call: RecordedModelCall, keep_runs: usize) {
        self.enqueue(run, RunOutput::RecordCall { call, keep_runs }).await;
    }

    /// Records a model call of a job's step.
    pub async fn record_job_call(&self, job: JobKey, step: String, call: RecordedModelCall) {
        let change = Change::Job {
            user_id: job.user_id,
            change: JobChange::Output {
                job_id: job.job_id,
                fence: job.fence,
                output: JobOutput::RecordCall { step, call },
            },
        };
        // The writer ends only after the last sender is dropped.
        let _ = self.output.send(QueuedChange::new(change)).await;
    }

    async fn enqueue(&self, run: RunKey, output: RunOutput) {
        let received = output.is_delta().then(Instant::now);
        let entry = QueuedChange {
            received,
            _turn: self.turns.take(run).await,
            ..QueuedChange::new(Change::Output { run, output })
        };
        // The writer ends only after the last sender is dropped.
        let _ = self.output.send(entry).await;
    }
}

struct ChangeQueues {
    intents: mpsc::Receiver<QueuedChange>,
    output: mpsc::Receiver<QueuedChange>,
}

impl ChangeQueues {
    /// Waits for a change and returns it with all others available; empty once all journal handles are
    /// dropped.
    async fn recv_all(&mut self) -> Vec<QueuedChange> {
        let mut entries = Vec::new();
        tokio::select! {
            biased;
            Some(entry) = self.intents.recv() => entries.push(entry),
            Some(entry) = self.output.recv() => entries.push(entry),
            else => {}
        }
        for queue in [&mut self.intents, &mut self.output] {
            // At most the queue's capacity: changes that arrive meanwhile are committed next.
            entries.extend(std::iter::from_fn(|| queue.try_recv().ok()).take(QUEUE_CAPACITY));
        }
        entries
    }

    /// Waits for `time` and rejects all intents that arrive meanwhile, with the kind of the storage failure.
    async fn reject_intents_for(&mut self, time: Duration, kind: StorageErrorKind) {
        let over = tokio::time::sleep(time);
        tokio::pin!(over);
        loop {
            tokio::select! {
                () = &mut over => return,
                Some(entry) = self.intents.recv() => reject(entry.reply, kind),
            }
        }
    }
}

fn reject(reply: Option<OutcomeSender>, kind: StorageErrorKind) {
    if let Some(reply) = reply {
        // The caller may have been cancelled.
        let _ = reply.send(Err(JournalError::Unavailable(kind)));
    }
}

/// Rejects intents at once while storage fails. Keeps the output of runs and jobs for the next attempt.
fn retain_output(
    changes: Vec<Change>,
    waiting: Vec<Option<OutcomeSender>>,
    kind: StorageErrorKind,
) -> (Vec<Change>, Vec<Option<OutcomeSender>>) {
    let (output, intents): (Vec<_>, Vec<_>) = changes
        .into_iter()
        .zip(waiting)
        .partition(|(change, _)| change.is_output());
    intents.into_iter().for_each(|(_, reply)| reject(reply, kind));
    output.into_iter().unzip()
}

/// Merges consecutive appends of one run, and adjacent deltas of the same part.
fn merge_appends(entries: impl Iterator<Item = QueuedChange>) -> Vec<QueuedChange> {
    let mut merged: Vec<QueuedChange> = Vec::new();
    // The index in `merged` of each run's entry that may still be extended.
    let mut open: HashMap<MessageId, usize> = HashMap::new();
    for entry in entries {
        let Change::Output {
            run,
            output: RunOutput::AppendEvents { events },
        } = entry.change
        else {
            // A message is stored, a run ends, or a conversation is deleted: no event may move across it.
            open.clear();
            merged.push(entry);
            continue;
        };
        // A caller that waits gets the outcome of its own change only.
        let joinable = entry.reply.is_none();
        match open.get(&run.message_id).and_then(|index| merged.get_mut(*index)) {
            Some(QueuedChange {
                change:
                    Change::Output {
                        output: RunOutput::AppendEvents { events: earlier, .. },
                        ..
                    },
                ..
            }) if joinable => {
                for event in events {
                    push_or_merge(earlier, event);
                }
            }
            _ => {
                open.insert(run.message_id, merged.len());
                let output = RunOutput::AppendEvents { events };
                merged.push(QueuedChange {
                    reply: entry.reply,
                    ..QueuedChange::new(Change::Output { run, output })
                });
            }
        }
    }
    merged
}

fn push_or_merge(events: &mut Vec<RunEvent>, event: RunEvent) {
    use RunEvent::{TextDelta, Thinking};
    match (events.last_mut(), &event) {
        (
            Some(TextDelta { node, part, text, .. }),
            TextDelta {
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
        (
            Some(Thinking {
                node,
                part,
                text,
                took_ms,
                ..
            }),
            Thinking {
                node: next_node,
                part: next_part,
                text: next,
                took_ms: next_took_ms,
                ..
            },
        ) if (*node, *part) == (*next_node, *next_part)
            && text.len() + next.len() <= MAX_MERGED_DELTA_BYTES =>
        {
            text.push_str(next);
            *took_ms += next_took_ms;
        }
        _ => events.push(event),
    }
}

#[cfg(test)]
mod tests;
