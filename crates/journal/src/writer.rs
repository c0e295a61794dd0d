//! The writer task: commits queued changes, publishes their events, and isolates changes that a damaged
//! database rejects.

use std::{collections::HashSet, sync::Arc, time::Instant};

use tokio::sync::watch;

use super::{
    ChangeQueues, JournalError, OutcomeSender, RETRY_DELAY,
    lease::{LeaseState, refuse},
    measure, merge_appends,
    progress::Progress,
    reject, retain_output,
    turns::Turns,
};
use crate::hub::Hub;
use parlor_base::clock;
use parlor_base::crash_point;
use parlor_protocol::MessageId;
use parlor_storage::{Change, ChangeRejection, RunKey, RunOutput, Storage, StorageError, StorageErrorKind};

/// The writer task.
pub(super) struct JournalWriter {
    pub storage: Arc<dyn Storage>,
    pub hub: Arc<Hub>,
    pub queues: ChangeQueues,
    pub turns: Arc<Turns>,
    /// Runs whose output was partly lost because the database is damaged, until they end.
    pub abandoned_runs: watch::Sender<HashSet<MessageId>>,
    pub progress: Arc<Progress>,
    pub lease: Arc<LeaseState>,
    /// The times at which the deltas of the present commit were received. Kept for its capacity.
    pub received: Vec<Instant>,
}

impl JournalWriter {
    pub async fn run(mut self) {
        loop {
            let entries = self.queues.recv_all().await;
            if entries.is_empty() {
                return;
            }
            self.progress.begin();
            self.turns.end();
            self.received.clear();
            self.received
                .extend(entries.iter().filter_map(|entry| entry.received));
            let (changes, waiting): (Vec<_>, Vec<_>) = merge_appends(entries.into_iter())
                .into_iter()
                .map(|entry| (entry.change, entry.reply))
                .unzip();
            crash_point!("journal::taken", if changes.iter().any(Change::is_run_end));
            self.commit(changes, waiting).await;
            self.progress.end();
            let published = Instant::now();
            for received in &self.received {
                self.hub.metrics().commits.count_delta(published - *received);
            }
        }
    }

    /// Commits all changes together. If the database is damaged, commits each of them alone to find the
    /// failing ones.
    async fn commit(&mut self, mut changes: Vec<Change>, mut waiting: Vec<Option<OutcomeSender>>) {
        let (mut delay, mut together) = (RETRY_DELAY.0, usize::MAX);
        while !changes.is_empty() {
            if *self.lease.is_lost.borrow() {
                return refuse(changes, waiting);
            }
            self.reject_abandoned(&mut changes, &mut waiting);
            let count = changes.len().min(together);
            let batch = &changes[..count];
            if batch.is_empty() {
                return;
            }
            let metrics = self.hub.metrics();
            let began = Instant::now();
            match self.storage.commit(clock::now(), batch).await {
                Ok(committed) => {
                    let events = committed.events.len();
                    metrics.commits.count_commit(began.elapsed(), count, events);
                    // Before anybody sees an end.
                    measure::count_changes(&metrics.runs, batch, &committed.outcomes);
                    crash_point!("journal::committed", if batch.iter().any(Change::is_run_end));
                    self.hub.publish(&committed.events);
                    crash_point!("journal::published", if batch.iter().any(Change::is_run_end));
                    for (change, outcome) in batch.iter().zip(&committed.outcomes) {
                        if let (
                            Change::Output {
                                run,
                                output: RunOutput::AbandonRun { events, .. },
                            },
                            Ok(_),
                        ) = (change, outcome)
                            && events.is_empty()
                        {
                            self.hub.abandon_run(*run);
                        }
                    }
                    let is_refused = |(change, outcome): (&Change, &Result<_, _>)| {
                        matches!(outcome, Err(ChangeRejection::FenceLost)) && change.is_output()
                    };
                    if batch.iter().zip(&committed.outcomes).any(is_refused) {
                        self.lease.refused_output.notify_one();
                    }
                    for (reply, outcome) in waiting.drain(..count).zip(committed.outcomes) {
                        if let Some(reply) = reply {
                            // The caller may have been cancelled; the change is applied nevertheless.
                            let _ = reply.send(outcome.map_err(JournalError::from));
                        }
                    }
                    crash_point!("journal::answered", if batch.iter().any(Change::is_run_end));
                    self.forget_ended_runs(batch);
                    changes.drain(..count);
                }
                Err(StorageError::LeaseLost) => {
                    tracing::error!(
                        "another process has taken over the work of this one, which can store nothing more of it"
                    );
                    self.lease.is_lost.send_replace(true);
                }
                Err(error) if error.kind() == StorageErrorKind::Damaged => {
                    metrics.commits.count_failure();
                    if count > 1 {
                        together = 1;
                        continue;
                    }
                    tracing::error!(%error, "the database is damaged: a change could not be stored and is lost");
                    for (change, reply) in changes.drain(..count).zip(waiting.drain(..count)) {
                        self.discard(&change, reply);
                    }
                }
                Err(error) => {
                    metrics.commits.count_failure();
                    tracing::error!(%error, "could not commit; retrying in {delay:?}");
                    let kind = error.kind();
                    (changes, waiting) = retain_output(changes, waiting, kind);
                    self.queues.reject_intents_for(delay, kind).await;
                    delay = (delay * 2).min(RETRY_DELAY.1);
                }
            }
        }
    }

    /// Drops a change that can't be applied: rejects its sender, and abandons the run whose output it is.
    fn discard(&self, change: &Change, reply: Option<OutcomeSender>) {
        reject(reply, StorageErrorKind::Damaged);
        if let Some(run) = producing_run(change) {
            self.abandoned_runs.send_modify(|runs| {
                runs.insert(run.message_id);
            });
        }
        if let Change::Output {
            run,
            output:
                RunOutput::AbandonRun {
                    events,
                    message: None,
                    ..
                },
        } = change
            && events.is_empty()
        {
            // Not even the run's status could be stored. The next start retries it.
            self.hub.abandon_run(*run);
            self.forget_ended_runs(std::slice::from_ref(change));
        }
    }

    /// Rejects all output of runs after a lost part: it would not match the stored state.
    fn reject_abandoned(&self, changes: &mut Vec<Change>, waiting: &mut Vec<Option<OutcomeSender>>) {
        let abandoned = self.abandoned_runs.borrow();
        if abandoned.is_empty() {
            return;
        }
        let is_lost =
            |change: &Change| producing_run(change).is_some_and(|run| abandoned.contains(&run.message_id));
        for at in (0..changes.len())
            .rev()
            .filter(|at| is_lost(&changes[*at]))
            .collect::<Vec<_>>()
        {
            changes.remove(at);
            reject(waiting.remove(at), StorageErrorKind::Damaged);
        }
    }

    /// Removes ended runs from the abandoned ones.
    fn forget_ended_runs(&self, changes: &[Change]) {
        self.abandoned_runs.send_if_modified(|runs| {
            let before = runs.len();
            for change in changes {
                if let Change::Output {
                    run,
                    output: RunOutput::EndRun { .. } | RunOutput::AbandonRun { .. },
                } = change
                {
                    runs.remove(&run.message_id);
                }
            }
            runs.len() < before
        });
    }
}

/// Returns the run whose answer a change is a part of.
fn producing_run(change: &Change) -> Option<RunKey> {
    let Change::Output { run, output } = change else {
        return None;
    };
    output.is_part_of_answer().then_some(*run)
}
