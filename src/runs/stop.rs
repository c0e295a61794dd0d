//! Stopping a run, from anywhere and at any time.

use std::time::Duration;

use tokio::time::timeout;

use super::Runs;
use crate::{
    protocol::{MessageId, RunStatus, UserId},
    storage::StorageError,
};

/// How long somebody who stops a run waits for its end. It takes longer only if storage is in trouble.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Why it can't be said that a run has been stopped.
#[derive(Debug, thiserror::Error)]
pub enum StopError {
    /// It is, and its end is stored as soon as that can be.
    #[error("the end of a stopped run has to wait for storage")]
    NotStored,
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl Runs {
    /// Stops a run of a user and waits until that is committed. A run that has ended stays as it is.
    ///
    /// Gives the status that the run has then; `None` if there is no such run.
    ///
    /// # Errors
    ///
    /// If storage does not work. The run stops all the same, and its end is stored as soon as it can be.
    pub async fn stop(&self, user_id: UserId, run: MessageId) -> Result<Option<RunStatus>, StopError> {
        // In a task of its own: whoever asked may go away, or have waited long enough, and the run must end all the same.
        let runs = self.clone();
        let stopping = tokio::spawn(async move { runs.stop_and_wait(user_id, run).await });
        match timeout(STOP_TIMEOUT, stopping).await {
            Ok(Ok(stopped)) => Ok(stopped?),
            Ok(Err(_)) | Err(_) => Err(StopError::NotStored),
        }
    }

    async fn stop_and_wait(
        &self,
        user_id: UserId,
        run: MessageId,
    ) -> Result<Option<RunStatus>, StorageError> {
        // Held to the end: whoever goes on with the run meanwhile is stopped before it begins anything.
        let _stopping = self.0.active.stop(user_id, run);
        loop {
            self.0.active.wait_until_ended(run).await;
            let stored = self.0.storage.run(user_id, run).await?;
            let Some(undone) = stored.filter(|stored| !stored.status.is_terminal()) else {
                return Ok(stored.map(|run| run.status));
            };
            // Nothing works on it, whatever may have happened: it must not stay like that. Unless it has just been continued.
            if let Some(_place) = self.0.active.enter(undone.key) {
                self.end_abandoned_run(undone.key, RunStatus::Stopped, None).await;
                return Ok(self.0.storage.run(user_id, run).await?.map(|run| run.status));
            }
        }
    }
}
