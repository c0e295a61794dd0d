//! Runs: starts them, drives each to its end whoever is watching, stops them, and ends what a crash left
//! unfinished.
//!
//! What a run does next is the agent's to say; this module performs it. What a run has produced is the
//! journal's; this module remembers only which runs are at work.

use std::{
    collections::{HashMap, hash_map::Entry},
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use futures::{FutureExt, StreamExt, stream};
use tokio::{
    sync::{oneshot, watch},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::{
    clock,
    journal::{Journal, JournalError},
    protocol::{
        ConversationId, EventBody, MessageId, RunError, RunStatus, UserId,
        intent::{Continue, Regenerate, SendMessage, Started},
        transcript::apply_to_run,
    },
    providers::Models,
    settings::{Limits, Timeouts},
    storage::{Change, Outcome, Refusal, RunKey, Start, Storage, StorageError},
};

mod driver;
mod history;

#[cfg(test)]
mod tests;

/// How many runs that a crash left are ended at a time: their messages are in memory meanwhile.
const RECOVERED_TOGETHER: usize = 64;

/// Why a run was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the message is empty")]
    Empty,
    #[error("the message has {length} bytes; the limit (limits.message_bytes) is {limit}")]
    TooLong { length: usize, limit: usize },
    #[error("the server is stopping")]
    ShuttingDown,
    #[error(transparent)]
    Journal(#[from] JournalError),
}

fn unavailable(error: StorageError) -> JournalError {
    tracing::error!(%error, "storage");
    JournalError::Unavailable
}

/// All runs of this process.
#[derive(Clone)]
pub struct Runs(Arc<Inner>);

struct Inner {
    storage: Arc<dyn Storage>,
    journal: Journal,
    models: Arc<Models>,
    limits: Limits,
    timeouts: Timeouts,
    /// The runs at work. A run is in here from before its start until after its end is committed.
    live: Mutex<HashMap<MessageId, Live>>,
    /// The server goes down: nothing new is begun.
    closed: AtomicBool,
    /// Cancelled once, when what is at work then has had its time.
    shutdown: CancellationToken,
}

/// The handle to a run that is at work.
#[derive(Clone)]
struct Live {
    user_id: UserId,
    stop: CancellationToken,
    /// Closed when the run's end is committed.
    ended: watch::Receiver<()>,
}

impl Runs {
    pub fn new(
        storage: Arc<dyn Storage>,
        journal: Journal,
        models: Arc<Models>,
        limits: Limits,
        timeouts: Timeouts,
    ) -> Self {
        Self(Arc::new(Inner {
            storage,
            journal,
            models,
            limits,
            timeouts,
            live: Mutex::default(),
            closed: AtomicBool::new(false),
            shutdown: CancellationToken::new(),
        }))
    }

    /// Saves a message and starts the run that answers it; the same intent again gives the same run.
    ///
    /// `fingerprint` is the request as it came, to tell it from another with the same id.
    pub async fn send(
        &self,
        user_id: UserId,
        intent: SendMessage,
        fingerprint: String,
    ) -> Result<Started, StartError> {
        let (length, limit) = (intent.text.len(), self.0.limits.message_bytes);
        if intent.text.trim().is_empty() {
            return Err(StartError::Empty);
        }
        if length > limit {
            return Err(StartError::TooLong { length, limit });
        }
        let (conversation_id, needs_model) = (intent.conversation_id, intent.model.is_none());
        let start = self
            .starting(user_id, conversation_id, needs_model, fingerprint)
            .await?;
        let run = RunKey {
            user_id,
            conversation_id,
            message_id: start.run,
        };
        self.begin(
            run,
            Change::Send {
                user_id,
                intent,
                start,
            },
        )
        .await
    }

    /// Starts a run that answers once more what a message answered.
    pub async fn regenerate(
        &self,
        user_id: UserId,
        intent: Regenerate,
        fingerprint: String,
    ) -> Result<Started, StartError> {
        let (conversation_id, needs_model) = (intent.conversation_id, intent.model.is_none());
        let start = self
            .starting(user_id, conversation_id, needs_model, fingerprint)
            .await?;
        let run = RunKey {
            user_id,
            conversation_id,
            message_id: start.run,
        };
        self.begin(
            run,
            Change::Regenerate {
                user_id,
                intent,
                start,
            },
        )
        .await
    }

    /// Goes on with an answer that did not come to its end.
    pub async fn go_on(
        &self,
        user_id: UserId,
        intent: Continue,
        fingerprint: String,
    ) -> Result<Started, StartError> {
        self.check_open()?;
        let run = RunKey {
            user_id,
            conversation_id: intent.conversation_id,
            message_id: intent.message_id,
        };
        self.begin(
            run,
            Change::Continue {
                user_id,
                intent,
                fingerprint,
            },
        )
        .await
    }

    fn check_open(&self) -> Result<(), StartError> {
        if self.0.closed.load(Relaxed) {
            return Err(StartError::ShuttingDown);
        }
        Ok(())
    }

    async fn starting(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
        needs_model: bool,
        fingerprint: String,
    ) -> Result<Start, StartError> {
        self.check_open()?;
        let model_of = self.0.storage.model(user_id, conversation_id);
        // An empty model is resolved to the default one, or to the reason why there is none.
        let default_model = if needs_model && model_of.await.map_err(unavailable)?.is_none() {
            self.0.models.list().await.default.unwrap_or_default()
        } else {
            String::new()
        };
        Ok(Start {
            run: MessageId::new(),
            default_model,
            fingerprint,
        })
    }

    /// Makes the change that starts a run, and drives the run to its end.
    ///
    /// All of it happens in a task of its own: who asked may go away at any moment, and a run that is committed must be driven
    /// all the same. The run can be stopped from before it is committed on, since whoever hears of it may stop it.
    async fn begin(&self, run: RunKey, change: Change) -> Result<Started, StartError> {
        let (answer, answered) = oneshot::channel();
        let runs = self.clone();
        tokio::spawn(async move {
            let mut live = runs.register(run);
            let outcome = runs.0.journal.submit(change).await;
            let begun = matches!(outcome, Ok(Outcome::Started { again: false, .. }));
            // Who asked may have gone.
            let _ = answer.send(outcome);
            if !begun {
                return;
            }
            // A run that is continued the moment that its end is committed: its driver is still tidying up.
            let live = loop {
                match live.take().or_else(|| runs.register(run)) {
                    Some(live) => break live,
                    None => runs.ended(run.message_id).await,
                }
            };
            runs.drive(run, live.stop.clone()).await;
        });
        match answered.await.map_err(|_| JournalError::Unavailable)?? {
            Outcome::Started { started, .. } => Ok(started),
            Outcome::Done | Outcome::Deleted { .. } => Err(JournalError::Refused(Refusal::NotFound).into()),
        }
    }

    /// Lets a run be found. Nothing if it is there already: then it is at work.
    fn register(&self, run: RunKey) -> Option<Registered> {
        let stop = CancellationToken::new();
        let (end, ended) = watch::channel(());
        let live = Live {
            user_id: run.user_id,
            stop: stop.clone(),
            ended,
        };
        match self.live().entry(run.message_id) {
            Entry::Occupied(_) => return None,
            Entry::Vacant(entry) => entry.insert(live),
        };
        Some(Registered {
            runs: self.clone(),
            run: run.message_id,
            stop,
            _end: end,
        })
    }

    /// Waits until nothing works on a run any more.
    async fn ended(&self, run: MessageId) {
        let live = self.live().get(&run).cloned();
        if let Some(mut live) = live {
            // The sender never sends: it closes when the run has ended.
            let _ = live.ended.changed().await;
        }
    }

    fn live(&self) -> MutexGuard<'_, HashMap<MessageId, Live>> {
        self.0.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn drive(&self, run: RunKey, stop: CancellationToken) {
        let driven = AssertUnwindSafe(driver::drive(&self.0, run, stop))
            .catch_unwind()
            .await;
        if driven.is_err() {
            tracing::error!(run = %run.message_id, "the driver of a run panicked");
            self.end_undriven(
                run,
                RunStatus::Interrupted,
                "internal",
                "A fault in Parlor broke the answer off.",
            )
            .await;
        }
    }

    /// Stops a run of a user and waits until that is committed. A run that has ended stays as it is.
    ///
    /// Gives the status that the run has then; `None` if there is no such run.
    pub async fn stop(&self, user_id: UserId, run: MessageId) -> Result<Option<RunStatus>, StorageError> {
        let stop = self
            .live()
            .get(&run)
            .filter(|live| live.user_id == user_id)
            .map(|live| live.stop.clone());
        if let Some(stop) = stop {
            stop.cancel();
            self.ended(run).await;
        }
        let stored = self.0.storage.run(user_id, run).await?;
        if let Some(stored) = stored
            && stored.status == RunStatus::Running
            && !self.live().contains_key(&run)
        {
            // Nothing works on it, whatever may have happened: it must not stay like that.
            self.end_undriven(stored.key, RunStatus::Stopped, "", "").await;
            return Ok(self.0.storage.run(user_id, run).await?.map(|run| run.status));
        }
        Ok(stored.map(|run| run.status))
    }

    /// Deletes a conversation of a user with all that is in it, and stops its run. What is gone already stays gone.
    pub async fn delete(&self, user_id: UserId, conversation_id: ConversationId) -> Result<(), StartError> {
        let change = Change::Delete {
            user_id,
            conversation_id,
        };
        if let Outcome::Deleted {
            active_run: Some(run),
        } = self.0.journal.submit(change).await?
            && let Some(live) = self.live().get(&run)
        {
            // What it still says is dropped by the storage; this only spares the model the work.
            live.stop.cancel();
        }
        Ok(())
    }

    /// Ends what an earlier process left running. What those runs had produced is kept.
    pub async fn recover(&self) -> Result<usize, StorageError> {
        let left = self.0.storage.runs_at_work().await?;
        // Together, so that the journal commits them together.
        stream::iter(&left)
            .for_each_concurrent(RECOVERED_TOGETHER, |run| {
                self.end_undriven(
                    run.key,
                    RunStatus::Interrupted,
                    "interrupted",
                    "Parlor went down before the answer was finished.",
                )
            })
            .await;
        Ok(left.len())
    }

    /// Ends a run that nothing drives any more, with all that it had produced.
    async fn end_undriven(&self, run: RunKey, status: RunStatus, code: &str, message: &str) {
        let error = RunError {
            code: code.into(),
            message: message.into(),
            hint: "What had come is kept. Continue goes on from there, Retry begins anew.".into(),
        };
        // What the run had handed in is committed before this is: then it can be read.
        self.submit_or_warn(Change::Append {
            run,
            events: Vec::new(),
        })
        .await;
        let stored = self.0.storage.message(run.user_id, run.message_id).await;
        let Ok(Some((_, mut message))) = stored else {
            tracing::error!(run = %run.message_id, ?stored, "a run that broke off could not be read");
            return;
        };
        let Some(assistant) = message.assistant_mut() else {
            return;
        };
        let event = EventBody::ended(status, Some(error), clock::now());
        apply_to_run(assistant, &event);
        self.submit_or_warn(Change::End {
            run,
            events: vec![event],
            message: assistant.clone(),
        })
        .await;
    }

    async fn submit_or_warn(&self, change: Change) {
        if let Err(error) = self.0.journal.submit(change).await {
            tracing::warn!(%error, "a run that broke off could not be ended");
        }
    }

    /// Takes no new runs, gives those at work some time to end by themselves, interrupts the others, and waits until all have
    /// ended.
    pub async fn shut_down(&self, patience: Duration) {
        self.0.closed.store(true, Relaxed);
        let at_work = || self.live().keys().next().copied();
        let ended = async {
            while let Some(run) = at_work() {
                self.ended(run).await;
            }
        };
        tokio::pin!(ended);
        if timeout(patience, &mut ended).await.is_err() {
            self.0.shutdown.cancel();
            ended.await;
        }
    }
}

/// A run's place among those at work. It is left when this is dropped, and those who wait for the end are told.
struct Registered {
    runs: Runs,
    run: MessageId,
    stop: CancellationToken,
    _end: watch::Sender<()>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.runs.live().remove(&self.run);
    }
}
