//! The lease of this node, without which the journal stores nothing.

use tokio::sync::{Notify, watch};

use super::{Journal, JournalError, OutcomeSender};
use parlor_storage::{Change, ChangeRejection, StorageErrorKind};

/// The lease of this node, as far as the writer knows.
#[derive(Debug, Default)]
pub(super) struct LeaseState {
    /// True from its loss until the next one begins.
    pub is_lost: watch::Sender<bool>,
    /// Notified when output was refused because another node has the run.
    pub refused_output: Notify,
}

impl Journal {
    /// Refuses all changes from now on: this node has lost its lease, and others take over its work.
    pub fn lose_lease(&self) {
        self.lease.is_lost.send_replace(true);
    }

    /// Accepts changes again, under another lease.
    pub fn begin_lease(&self) {
        self.lease.is_lost.send_replace(false);
    }

    /// Returns true while there is no lease.
    pub fn has_lost_lease(&self) -> bool {
        *self.lease.is_lost.borrow()
    }

    /// Waits until the lease is lost.
    pub async fn wait_until_lease_lost(&self) {
        let mut is_lost = self.lease.is_lost.subscribe();
        // The sender lives as long as this.
        let _ = is_lost.wait_for(|is_lost| *is_lost).await;
    }

    /// Waits until output is refused because another node has its run.
    pub async fn wait_for_refused_output(&self) {
        self.lease.refused_output.notified().await;
    }
}

/// Refuses changes without a lease: output for good, since others take over the work, and intents for now.
pub(super) fn refuse(changes: Vec<Change>, waiting: Vec<Option<OutcomeSender>>) {
    for (change, reply) in changes.into_iter().zip(waiting) {
        let error = match change.is_output() {
            true => JournalError::Rejected(ChangeRejection::FenceLost),
            false => JournalError::Unavailable(StorageErrorKind::Other),
        };
        if let Some(reply) = reply {
            // The caller may have been cancelled.
            let _ = reply.send(Err(error));
        }
    }
}
