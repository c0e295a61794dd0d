//! The journal, the only writer of changes: receives changes from runs and intents, commits the waiting ones in one
//! transaction, then publishes their events.
//!
//! An idle journal commits the first change at once. A busy one commits the changes that arrived during the
//! previous commit. There is no fixed delay. Its queues are bounded: a sender waits while the queue is full,
//! so a run stops reading from its model. Each user's runs have a queue of their own, and a commit takes about as
//! much of each: see [`output_queue`].

use std::{collections::HashSet, io, sync::Arc, thread, time::Duration};

use tokio::{
    runtime,
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
};

use self::{
    change_queues::{ChangeQueues, output_run},
    output_queue::OutputQueue,
    writer::JournalWriter,
};
use crate::{
    hub::Hub,
    protocol::{ApiError, AssistantMessage, EventBody, MessageId, Payload, PlacedProviderData},
    storage::{Change, ChangeRejection, Outcome, RecordedModelCall, RunKey, Storage, StorageErrorKind},
};

mod change_queues;
mod merge;
mod output_queue;
#[cfg(test)]
mod test_changes;
mod writer;

/// The maximum number of intents that wait.
const MAX_WAITING_INTENTS: usize = 1024;

/// The delay before a failed commit is retried: initial and maximum.
const RETRY_DELAY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

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
/// Intents have their own queue: they do not wait behind the output of runs, and while storage fails they are
/// rejected at once, whereas output waits. The two queues have no common order and need none: a run produces
/// output only after the commit of its start.
#[derive(Clone, Debug)]
pub struct Journal {
    intents: mpsc::Sender<QueuedChange>,
    output: Arc<OutputQueue>,
    /// Wakes the writer after output was queued. It ends once all senders are dropped.
    output_ready: mpsc::Sender<()>,
    abandoned_runs: watch::Receiver<HashSet<MessageId>>,
}

#[derive(Debug)]
struct QueuedChange {
    change: Change,
    /// Receives the outcome of the change; `None` for a run's output, for which no caller waits.
    reply: Option<OutcomeSender>,
    /// The number of queued changes that were merged into this one.
    slots: usize,
}

type OutcomeSender = oneshot::Sender<Result<Outcome, JournalError>>;

impl Journal {
    /// Starts the writer. It ends after the last journal handle is dropped and all changes are written.
    pub fn start(storage: Arc<dyn Storage>, hub: Arc<Hub>) -> (Self, JoinHandle<()>) {
        let (journal, writer) = Self::new(storage, hub);
        (journal, tokio::spawn(writer.run()))
    }

    /// Starts the writer on a thread of its own. A commit waits for the database many times; among the tasks of many
    /// runs, the writer would wait for its turn after each.
    ///
    /// # Errors
    ///
    /// If the thread can't be created.
    pub fn start_on_thread(storage: Arc<dyn Storage>, hub: Arc<Hub>) -> io::Result<(Self, JoinHandle<()>)> {
        let (journal, writer) = Self::new(storage, hub);
        let (started, has_started) = std::sync::mpsc::channel();
        let (running, ended) = oneshot::channel::<()>();
        let log = tracing::dispatcher::get_default(Clone::clone);
        thread::Builder::new().name("journal".into()).spawn(move || {
            let _running = running;
            // Created here: dropped on the caller's thread, it would panic.
            let runtime = runtime::Builder::new_current_thread().enable_all().build();
            let (runtime, failure) = match runtime {
                Ok(runtime) => (Some(runtime), Ok(())),
                Err(error) => (None, Err(error)),
            };
            // The caller waits for it.
            let _ = started.send(failure);
            if let Some(runtime) = runtime {
                tracing::dispatcher::with_default(&log, || runtime.block_on(writer.run()));
            }
        })?;
        has_started.recv().map_err(io::Error::other)??;
        // The sender is never used, only dropped.
        let ended = tokio::spawn(async move { drop(ended.await) });
        Ok((journal, ended))
    }

    fn new(storage: Arc<dyn Storage>, hub: Arc<Hub>) -> (Self, JournalWriter) {
        let (intents, intent_receiver) = mpsc::channel(MAX_WAITING_INTENTS);
        let (output_ready, output_receiver) = mpsc::channel(1);
        let output = Arc::<OutputQueue>::default();
        let queues = ChangeQueues {
            intents: intent_receiver,
            output: output.clone(),
            output_ready: output_receiver,
        };
        let (abandoned_sender, abandoned_runs) = watch::channel(HashSet::new());
        let writer = JournalWriter {
            storage,
            hub,
            queues,
            abandoned_runs: abandoned_sender,
        };
        let journal = Self {
            intents,
            output,
            output_ready,
            abandoned_runs,
        };
        (journal, writer)
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
        // The writer has ended because the process ends.
        let writer_ended = JournalError::Unavailable(StorageErrorKind::Other);
        self.enqueue(change, Some(reply)).await;
        outcome.await.map_err(|_| writer_ended)?
    }

    /// Appends to a run's output. The events are committed in order, and are not lost while the process
    /// lives.
    pub async fn append(&self, run: RunKey, events: Vec<EventBody>) {
        self.enqueue(Change::AppendEvents { run, events }, None).await;
    }

    /// Waits until all changes submitted by a run so far are committed.
    ///
    /// # Errors
    ///
    /// If the run no longer exists, or the journal has ended.
    pub async fn flush(&self, run: RunKey) -> Result<(), JournalError> {
        let nothing = Change::AppendEvents {
            run,
            events: Vec::new(),
        };
        self.submit(nothing).await.map(|_| ())
    }

    /// Stores the run's message so far.
    pub async fn store_message(&self, run: RunKey, message: AssistantMessage) {
        self.enqueue(Change::StoreMessage { run, message }, None).await;
    }

    /// Stores a payload. Later changes of the run are committed after it.
    pub async fn store_payload(&self, run: RunKey, payload: Payload) {
        self.enqueue(Change::StorePayload { run, payload }, None).await;
    }

    /// Stores provider-specific data. Later changes of the run are committed after it.
    pub async fn store_provider_data(&self, run: RunKey, placed: PlacedProviderData) {
        self.enqueue(Change::StoreProviderData { run, placed }, None)
            .await;
    }

    /// Records a model call. Only the newest `keep_runs` runs of the conversation keep their calls.
    pub async fn record_call(&self, run: RunKey, call: RecordedModelCall, keep_runs: usize) {
        self.enqueue(Change::RecordCall { run, call, keep_runs }, None)
            .await;
    }

    /// Waits while the queue is full. A change that the writer no longer takes is dropped with its `reply`.
    async fn enqueue(&self, change: Change, reply: Option<OutcomeSender>) {
        let user_id = output_run(&change).map(|run| run.user_id);
        let queued = QueuedChange {
            change,
            reply,
            slots: 1,
        };
        match user_id {
            Some(user_id) => {
                self.output.push(user_id, queued).await;
                // A message that waits already wakes the writer, too.
                let _ = self.output_ready.try_send(());
            }
            // Fails only if the writer has ended because the process ends.
            None => drop(self.intents.send(queued).await),
        }
    }
}
