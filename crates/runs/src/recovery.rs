//! Runs without a driver: those left by a crash, those broken by an internal error, and those that are active when the
//! server shuts down. They end, or go on by themselves (`resumption`).

use std::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use futures::{StreamExt, stream};
use tokio::time::timeout;

use super::{ReadError, Runs, StartError};
use crate::agent;
use parlor_base::{clock, crash_point, metrics::runs::WorkKind};
use parlor_journal::JournalError;
use parlor_protocol::{RunError, RunEvent, RunStatus, transcript::apply_to_run};
use parlor_storage::{Change, ChangeRejection, Queues, RunChange, RunKey, RunOutput, StorageErrorKind};

/// The number of abandoned runs that are ended at a time. Their messages are in memory meanwhile.
const MAX_CONCURRENT_RECOVERIES: usize = 64;

/// The outcome for a run that was left running.
enum Recovered {
    GoesOn,
    Ended,
    /// Another node has taken it, or the next look of a node or the next start does.
    Later,
}

/// Returns true if a run could not be taken over now, but may be at the next look.
fn may_succeed_later(error: &StartError) -> bool {
    match error {
        StartError::Journal(JournalError::Unavailable(kind)) => *kind != StorageErrorKind::Damaged,
        StartError::Refused(_) | StartError::ShuttingDown => true,
        _ => false,
    }
}

impl Runs {
    /// Lets the runs go on that an earlier process left running, or ends them, and keeps their output. Reads and writes
    /// that fail are repeated until they succeed or the server shuts down.
    pub async fn recover(&self) {
        let read = || self.0.storage.running_runs();
        let Ok(left) = self
            .0
            .retry_read("the runs that the last process left running", read)
            .await
        else {
            return;
        };
        crash_point!("recovery::found", if !left.is_empty());
        let (resumed, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        // Concurrently, so that the journal commits them together.
        stream::iter(&left)
            .for_each_concurrent(MAX_CONCURRENT_RECOVERIES, async |run| {
                match self.recover_run(run.key).await {
                    Recovered::GoesOn => {
                        resumed.fetch_add(1, Relaxed);
                    }
                    Recovered::Ended => {
                        ended.fetch_add(1, Relaxed);
                    }
                    Recovered::Later => return,
                }
                self.0.journal.metrics().runs.count_takeover(WorkKind::Answer);
            })
            .await;
        crash_point!("recovery::done", if !left.is_empty());
        let (resumed, interrupted) = (resumed.into_inner(), ended.into_inner());
        if resumed + interrupted > 0 {
            tracing::warn!(
                resumed,
                interrupted,
                "answers were running when the last process ended; their output is kept"
            );
        }
        // A queue is held if its run was interrupted. The last process ended between a complete run and the next
        // message of the others.
        tokio::spawn(self.send_queued(Queues::All));
    }

    /// Lets a run go on that an earlier process left running, or ends it.
    async fn recover_run(&self, run: RunKey) -> Recovered {
        let read = || self.0.storage.message(run.user_id, run.message_id);
        let found = match self.0.retry_read("an interrupted run", read).await {
            Ok(found) => found,
            Err(ReadError::ShuttingDown) => return Recovered::Later,
            Err(ReadError::Damaged) => None,
        };
        let answer = found.as_ref().and_then(|(_, message)| message.assistant());
        // A node looks again; a single process does not.
        let is_left = |error: &StartError| self.0.storage.has_nodes() && may_succeed_later(error);
        if answer.is_some_and(|answer| self.0.goes_on_by_itself(answer)) {
            match self.resume(run).await {
                Ok(()) => return Recovered::GoesOn,
                Err(error) if is_left(&error) => return Recovered::Later,
                Err(_) => {}
            }
        }
        let recovered = self
            .0
            .journal
            .submit(Change::Run(RunChange::Recover { run }))
            .await;
        match recovered {
            Err(JournalError::Rejected(ChangeRejection::FenceLost)) => return Recovered::Later,
            Err(error) if is_left(&error.into()) => return Recovered::Later,
            // A damaged run is abandoned, which needs no owner.
            Err(error) => tracing::warn!(%error, "an interrupted run could not be taken over"),
            Ok(_) => {}
        }
        let error = interrupted_error("interrupted", "Parlor stopped before the answer was finished.");
        self.end_stored_run(run, RunStatus::Interrupted, Some(error))
            .await;
        Recovered::Ended
    }

    /// Ends a run that this process has stopped driving, with all its output.
    pub(super) async fn end_abandoned_run(&self, run: RunKey, status: RunStatus, error: Option<RunError>) {
        // An earlier process may have left it waiting.
        self.take_over(run).await;
        // The journal first commits the run's output, so that it can be read.
        if let Err(error) = self.0.journal.flush(run).await {
            tracing::warn!(%error, "an interrupted run could not be ended");
        }
        self.end_stored_run(run, status, error).await;
    }

    /// Makes this process the owner of a run, so that it can end the run.
    async fn take_over(&self, run: RunKey) {
        let taken = self
            .0
            .journal
            .submit(Change::Run(RunChange::TakeOver { run }))
            .await;
        if let Err(error) = taken {
            // A damaged run is abandoned, which needs no owner.
            tracing::warn!(%error, "an interrupted run could not be taken over");
        }
    }

    /// Ends a run with its stored state. A run that was deleted with its conversation has no end;
    /// one whose message is not a run's is abandoned; one that can't be read before the server
    /// shuts down is ended by the next start.
    async fn end_stored_run(&self, run: RunKey, status: RunStatus, error: Option<RunError>) {
        let read = || self.0.storage.message(run.user_id, run.message_id);
        let mut message = match self.0.retry_read("an interrupted run", read).await {
            Ok(Some((_, message))) => message,
            Err(ReadError::ShuttingDown) => return,
            Ok(None) | Err(ReadError::Damaged) => return self.0.end_damaged_run(run, None).await,
        };
        let Some(assistant) = message.assistant_mut() else {
            return self.0.end_damaged_run(run, None).await;
        };
        // An error about missing data says more than the reason for the interruption.
        let damage = assistant.error.clone().filter(RunError::is_damage);
        let event = RunEvent::run_ended(status, damage.or(error), clock::now(), 0);
        apply_to_run(assistant, &event);
        crash_point!("recovery::ending");
        let message = assistant.clone();
        let end = Change::Output {
            run,
            output: RunOutput::EndRun {
                events: vec![event],
                message: message.clone(),
            },
        };
        match self.0.journal.submit(end).await {
            Ok(_) => {}
            Err(JournalError::Rejected(ChangeRejection::FenceLost)) if self.0.storage.has_nodes() => {
                tracing::debug!(run = %run.message_id, "another node has taken an answer, or ended it");
            }
            Err(
                JournalError::Unavailable(StorageErrorKind::Damaged)
                | JournalError::Rejected(ChangeRejection::FenceLost),
            ) => self.0.end_damaged_run(run, Some(message)).await,
            Err(error) => tracing::warn!(%error, "an interrupted run could not be ended"),
        }
    }

    /// Rejects new runs, gives active runs some time to end by themselves, and waits until all have ended. The others are
    /// interrupted, or left to the next start if they go on by themselves.
    pub async fn shut_down(&self, grace_period: Duration) {
        self.0.is_closed.store(true, Relaxed);
        let ended = self.0.active.wait_until_all_ended();
        tokio::pin!(ended);
        if timeout(grace_period, &mut ended).await.is_err() {
            self.0.shutdown.cancel();
            ended.await;
        }
        // Ends the waits for storage that does not work.
        self.0.shutdown.cancel();
    }
}

/// Returns the error of an answer that Parlor itself interrupted.
pub(super) fn interrupted_error(code: &str, message: &str) -> RunError {
    agent::run_error(code, message.into(), agent::KEPT_HINT)
}
