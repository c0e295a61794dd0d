//! Stops a run, at any time.

use std::time::Duration;

use tokio::time::timeout;

use super::Runs;
use parlor_protocol::{MessageId, RunStatus, UserId};
use parlor_storage::StorageError;

/// The time to wait for the end of a stopped run. It takes longer only if storage has a problem.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// The reason why a stop could not be confirmed.
#[derive(Debug, thiserror::Error)]
pub enum StopError {
    /// The run is stopped, and its end will be stored as soon as possible.
    #[error("the end of a stopped run is not stored yet")]
    NotStored,
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Runs {
    /// Stops a run of a user and waits until its end is committed. A run that has ended stays as it
    /// is.
    ///
    /// Returns the run's status after that; `None` if there is no such run.
    ///
    /// # Errors
    ///
    /// If storage fails. The run stops anyway, and its end is stored as soon as possible.
    pub async fn stop(&self, user_id: UserId, run: MessageId) -> Result<Option<RunStatus>, StopError> {
        // In a task of its own: the caller may go away or time out, and the run must still end.
        let runs = self.clone();
        let stopping = tokio::spawn(async move { runs.stop_and_wait(user_id, run).await });
        match timeout(STOP_TIMEOUT, stopping).await {
            Ok(Ok(stopped)) => stopped,
            Ok(Err(_)) | Err(_) => Err(StopError::NotStored),
        }
    }

    async fn stop_and_wait(&self, user_id: UserId, run: MessageId) -> Result<Option<RunStatus>, StopError> {
        // Held to the end: a run that is continued meanwhile is stopped before it starts anything.
        let _stopping = self.0.active.stop(user_id, run);
        loop {
            self.0.active.wait_until_ended(run).await;
            let stored = self.0.storage.run(user_id, run).await?;
            let Some(running) = stored.filter(|stored| !stored.status.is_terminal()) else {
                return Ok(stored.map(|run| run.status));
            };
            // The run has no driver, for whatever reason, and must not stay running. It may have
            // just been continued, though.
            if let Some(_slot) = self.0.active.enter(running.key) {
                self.end_abandoned_run(running.key, RunStatus::Stopped, None)
                    .await;
                let stored = self.0.storage.run(user_id, run).await?;
                return match stored {
                    // For instance without a lease: the end was refused.
                    Some(run) if !run.status.is_terminal() && self.0.storage.has_nodes() => {
                        Err(StopError::NotStored)
                    }
                    stored => Ok(stored.map(|run| run.status)),
                };
            }
        }
    }
}
