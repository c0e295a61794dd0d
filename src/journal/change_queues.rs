//! The changes that wait for the writer: intents, and the output of runs.

use std::{sync::Arc, time::Duration};

use tokio::sync::mpsc;

use super::{JournalError, MAX_WAITING_INTENTS, OutcomeSender, QueuedChange, output_queue::OutputQueue};
use crate::storage::{Change, RunKey, StorageErrorKind};

/// The receiving ends.
pub(super) struct ChangeQueues {
    pub intents: mpsc::Receiver<QueuedChange>,
    pub output: Arc<OutputQueue>,
    /// Receives a message after output was queued, unless one is waiting already.
    pub output_ready: mpsc::Receiver<()>,
}

impl ChangeQueues {
    /// Waits for a change and returns those of the next commit; `None` once all journal handles are dropped.
    pub async fn recv_next(&mut self) -> Option<Vec<QueuedChange>> {
        loop {
            let mut changes = Vec::new();
            if self.output.is_empty() {
                tokio::select! {
                    biased;
                    Some(intent) = self.intents.recv() => changes.push(intent),
                    // The output may have been taken already.
                    Some(()) = self.output_ready.recv() => {}
                    else => return None,
                }
            }
            // At most the queue's capacity: intents that arrive meanwhile are committed next.
            changes.extend(std::iter::from_fn(|| self.intents.try_recv().ok()).take(MAX_WAITING_INTENTS));
            changes.extend(self.output.take_next());
            if !changes.is_empty() {
                return Some(changes);
            }
        }
    }

    /// Waits for `time` and rejects all intents that arrive meanwhile, with the kind of the storage failure.
    pub async fn reject_intents_for(&mut self, time: Duration, kind: StorageErrorKind) {
        let over = tokio::time::sleep(time);
        tokio::pin!(over);
        loop {
            tokio::select! {
                () = &mut over => return,
                Some(intent) = self.intents.recv() => reject(intent.reply, kind),
            }
        }
    }
}

impl Drop for ChangeQueues {
    fn drop(&mut self) {
        self.output.close();
    }
}

pub(super) fn reject(reply: Option<OutcomeSender>, kind: StorageErrorKind) {
    if let Some(reply) = reply {
        // The caller may have been cancelled.
        let _ = reply.send(Err(JournalError::Unavailable(kind)));
    }
}

/// Rejects intents at once while storage fails. Keeps the output of runs for the next attempt.
pub(super) fn retain_run_output(
    changes: Vec<Change>,
    waiting: Vec<Option<OutcomeSender>>,
    kind: StorageErrorKind,
) -> (Vec<Change>, Vec<Option<OutcomeSender>>) {
    let (output, intents): (Vec<_>, Vec<_>) = changes
        .into_iter()
        .zip(waiting)
        .partition(|(change, _)| output_run(change).is_some());
    intents.into_iter().for_each(|(_, reply)| reject(reply, kind));
    output.into_iter().unzip()
}

/// Returns the run whose output a change is; `None` for an intent.
pub(super) fn output_run(change: &Change) -> Option<RunKey> {
    match change {
        Change::AppendEvents { run, .. }
        | Change::StoreMessage { run, .. }
        | Change::StorePayload { run, .. }
        | Change::StoreProviderData { run, .. }
        | Change::StoreSummary { run, .. }
        | Change::RecordCall { run, .. }
        | Change::StoreAttachment { run, .. }
        | Change::PauseRun { run, .. }
        | Change::EndRun { run, .. }
        | Change::HandOverRun { run, .. }
        | Change::AbandonRun { run, .. } => Some(*run),
        _ => None,
    }
}
