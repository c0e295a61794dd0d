//! Runs: starts them, drives each to its end whoever is watching, stops them, and ends what a crash left
//! unfinished.
//!
//! What a run does next is the agent's to say; this module performs it. What a run has produced is the
//! journal's; this module remembers only which runs are at work.

use std::{
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
};

use futures::{FutureExt, StreamExt, stream};
use tokio::sync::watch;
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

/// All runs of this process.
#[derive(Clone)]
pub struct Runs(Arc<Inner>);

struct Inner {
    storage: Arc<dyn Storage>,
    journal: Journal,
    models: Arc<Models>,
    limits: Limits,
    timeouts: Timeouts,
    /// The runs at work. A run is in here from before its first effect until after its end is committed.
    live: Mutex<HashMap<MessageId, Live>>,
    /// Cancelled once, when the server goes down.
    shutdown: CancellationToken,
}

/// The handle to a run that is at work.
#[derive(Clone)]
struct Live {
    user_id: UserId,
    conversation_id: ConversationId,
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
        let start = self.starting(intent.model.is_none(), fingerprint).await?;
        self.begin(
            user_id,
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
        let start = self.starting(intent.model.is_none(), fingerprint).await?;
        self.begin(
            user_id,
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
        self.begin(
            user_id,
            Change::Continue {
                user_id,
                intent,
                fingerprint,
            },
        )
        .await
    }

    fn check_open(&self) -> Result<(), StartError> {
        if self.0.shutdown.is_cancelled() {
            return Err(StartError::ShuttingDown);
        }
        Ok(())
    }

    async fn starting(&self, needs_model: bool, fingerprint: String) -> Result<Start, StartError> {
        self.check_open()?;
        // An empty model is resolved to the default one, or to the reason why there is none.
        let default_model = if needs_model {
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

    async fn begin(&self, user_id: UserId, change: Change) -> Result<Started, StartError> {
        match self.0.journal.submit(change).await? {
            Outcome::Started { started, again } => {
                if !again {
                    let Started {
                        conversation_id,
                        assistant_message_id: message_id,
                        ..
                    } = started;
                    self.spawn(RunKey {
                        user_id,
                        conversation_id,
                        message_id,
                    });
                }
                Ok(started)
            }
            Outcome::Done => Err(JournalError::Refused(Refusal::NotFound).into()),
        }
    }

    fn spawn(&self, run: RunKey) {
        let stop = CancellationToken::new();
        let (end, ended) = watch::channel(());
        let RunKey {
            user_id,
            conversation_id,
            ..
        } = run;
        let live = Live {
            user_id,
            conversation_id,
            stop: stop.clone(),
            ended,
        };
        self.0
            .live
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(run.message_id, live);
        let runs = self.clone();
        tokio::spawn(async move {
            let driven = AssertUnwindSafe(driver::drive(&runs.0, run, stop))
                .catch_unwind()
                .await;
            if driven.is_err() {
                tracing::error!(run = %run.message_id, "the driver of a run panicked");
                runs.interrupt(run, "internal", "A fault in Parlor broke the answer off.")
                    .await;
            }
            runs.0
                .live
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .remove(&run.message_id);
            drop(end);
        });
    }

    /// Stops a run of a user and waits until that is committed. A run that has ended stays as it is.
    ///
    /// Gives the status that the run has then; `None` if there is no such run.
    pub async fn stop(&self, user_id: UserId, run: MessageId) -> Result<Option<RunStatus>, StorageError> {
        let live = self
            .0
            .live
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&run)
            .cloned();
        if let Some(mut live) = live.filter(|live| live.user_id == user_id) {
            live.stop.cancel();
            // The sender never sends: it closes when the run has ended.
            let _ = live.ended.changed().await;
        }
        Ok(self.0.storage.run(user_id, run).await?.map(|run| run.status))
    }

    /// Deletes a conversation of a user with all that is in it, and stops its run.
    pub async fn delete(&self, user_id: UserId, conversation_id: ConversationId) -> Result<(), StartError> {
        let change = Change::Delete {
            user_id,
            conversation_id,
        };
        let live: Vec<CancellationToken> = {
            let live = self.0.live.lock().unwrap_or_else(PoisonError::into_inner);
            live.values()
                .filter(|run| run.conversation_id == conversation_id)
                .map(|run| run.stop.clone())
                .collect()
        };
        self.0.journal.submit(change).await?;
        // What such a run still says is dropped by the storage; this only spares the model the work.
        live.iter().for_each(CancellationToken::cancel);
        Ok(())
    }

    /// Ends what an earlier process left running. What those runs had produced is kept.
    pub async fn recover(&self) -> Result<usize, StorageError> {
        let left = self.0.storage.runs_with_status(RunStatus::Running).await?;
        // Together, so that the journal commits them together.
        stream::iter(&left)
            .for_each_concurrent(RECOVERED_TOGETHER, |run| {
                self.interrupt(
                    run.key,
                    "interrupted",
                    "Parlor went down before the answer was finished.",
                )
            })
            .await;
        Ok(left.len())
    }

    /// Ends a run that nothing drives any more.
    async fn interrupt(&self, run: RunKey, code: &str, message: &str) {
        let error = RunError {
            code: code.into(),
            message: message.into(),
            hint: "What had come is kept. Continue goes on from there, Retry begins anew.".into(),
        };
        let stored = self.0.storage.message(run.user_id, run.message_id).await;
        let Ok(Some((_, mut message))) = stored else {
            tracing::error!(run = %run.message_id, ?stored, "a run that broke off could not be read");
            return;
        };
        let Some(assistant) = message.assistant_mut() else {
            return;
        };
        let event = EventBody::ended(RunStatus::Interrupted, Some(error), clock::now());
        apply_to_run(assistant, &event);
        let end = Change::End {
            run,
            events: vec![event],
            message: assistant.clone(),
        };
        if let Err(error) = self.0.journal.submit(end).await {
            tracing::warn!(run = %run.message_id, %error, "a run that broke off could not be ended");
        }
    }

    /// Takes no new runs, interrupts those at work and waits until they have ended.
    pub async fn shut_down(&self) {
        self.0.shutdown.cancel();
        let live: Vec<Live> = self
            .0
            .live
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .cloned()
            .collect();
        for mut run in live {
            let _ = run.ended.changed().await;
        }
    }
}
