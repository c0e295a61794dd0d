//! The end of runs that nothing drives (any more): what a crash has left, what a fault has broken, and what is at work when the
//! server goes down.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use futures::{StreamExt, stream};
use tokio::time::{sleep, timeout};

use super::{Runs, driver::READ_AGAIN};
use crate::{
    agent::KEPT,
    clock,
    protocol::{EventBody, Message, RunError, RunStatus, transcript::apply_to_run},
    storage::{Change, RunKey, StorageError},
};

/// How many runs that a crash left are ended at a time: their messages are in memory meanwhile.
const RECOVERED_TOGETHER: usize = 64;

impl Runs {
    /// Ends what an earlier process left running. What those runs had produced is kept.
    ///
    /// # Errors
    ///
    /// If it can't be read which they are. What can't be read of one of them, or be written, is tried again until it can.
    pub async fn recover(&self) -> Result<(), StorageError> {
        let left = self.0.storage.runs_at_work().await?;
        crash_point!("recovery::found", if !left.is_empty());
        let down = broke_off("interrupted", "Parlor went down before the answer was finished.");
        // Together, so that the journal commits them together.
        stream::iter(&left)
            .for_each_concurrent(RECOVERED_TOGETHER, |run| {
                self.end_as_stored(run.key, RunStatus::Interrupted, Some(down.clone()))
            })
            .await;
        crash_point!("recovery::done", if !left.is_empty());
        if !left.is_empty() {
            tracing::warn!(
                interrupted = left.len(),
                "answers were at work when the last process ended; what they had is kept"
            );
        }
        Ok(())
    }

    /// Goes on with an attempt to [`recover`](Self::recover), and tries again until one succeeds.
    pub async fn recover_in_the_end(&self, attempt: impl Future<Output = Result<(), StorageError>>) {
        let mut outcome = attempt.await;
        while let Err(error) = outcome {
            tracing::error!(%error, "what the last process left at work can't be read; trying again");
            sleep(READ_AGAIN).await;
            outcome = self.recover().await;
        }
    }

    /// Ends a run that this process drove and nothing drives any more, with all that it had produced.
    pub(super) async fn end_undriven(&self, run: RunKey, status: RunStatus, error: Option<RunError>) {
        // What the run had handed in is committed before this is: then it can be read.
        self.submit_or_warn(Change::Append {
            run,
            events: Vec::new(),
        })
        .await;
        self.end_as_stored(run, status, error).await;
    }

    /// Ends a run with what the storage has of it.
    async fn end_as_stored(&self, run: RunKey, status: RunStatus, error: Option<RunError>) {
        let Some(mut message) = self.stored(run).await else {
            return;
        };
        let Some(assistant) = message.assistant_mut() else {
            return;
        };
        let event = EventBody::ended(status, error, clock::now());
        apply_to_run(assistant, &event);
        crash_point!("recovery::ending");
        self.submit_or_warn(Change::End {
            run,
            events: vec![event],
            message: assistant.clone(),
        })
        .await;
    }

    /// A run's message. Nothing if it is gone with its conversation, or if the server goes down before it could be read: then the
    /// next start ends the run.
    async fn stored(&self, run: RunKey) -> Option<Message> {
        loop {
            match self.0.storage.message(run.user_id, run.message_id).await {
                Ok(found) => return found.map(|(_, message)| message),
                Err(error) => {
                    tracing::error!(run = %run.message_id, %error, "a run that broke off can't be read; trying again");
                    tokio::select! {
                        () = self.0.shutdown.cancelled() => return None,
                        () = sleep(READ_AGAIN) => {}
                    }
                }
            }
        }
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
        let ended = self.0.at_work.all_ended();
        tokio::pin!(ended);
        if timeout(patience, &mut ended).await.is_err() {
            self.0.shutdown.cancel();
            ended.await;
        }
        // What waits for storage that does not work waits no longer.
        self.0.shutdown.cancel();
    }
}

/// Why an answer that Parlor itself broke off has no end.
pub(super) fn broke_off(code: &str, message: &str) -> RunError {
    RunError {
        code: code.into(),
        message: message.into(),
        hint: KEPT.into(),
    }
}
