//! The work that an earlier process has left, at the start.

use std::time::Duration;

use tokio::{task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;

use parlor_runs::{Runs, jobs::Jobs};

/// The longest wait of a start for recovery, which ends the runs left by an earlier process. It takes longer
/// only if storage fails.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(2);

/// The recovery of the runs and jobs of an earlier process.
pub(super) struct Recovery {
    /// The task, if it takes longer than the start waits.
    pub task: Option<JoinHandle<()>>,
    /// Cancelled when the recovery has ended.
    pub ended: CancellationToken,
}

impl Recovery {
    /// Starts the recovery, and waits for its end for some time.
    pub async fn start(runs: &Runs, jobs: &Jobs) -> Self {
        let ended = CancellationToken::new();
        let mut task = tokio::spawn({
            let (runs, jobs, ended) = (runs.clone(), jobs.clone(), ended.clone());
            async move {
                runs.recover().await;
                jobs.recover().await;
                ended.cancel();
            }
        });
        let has_ended = timeout(RECOVERY_TIMEOUT, &mut task).await.is_ok();
        if !has_ended {
            // Stored data can be read meanwhile.
            tracing::error!("the last process's unfinished runs can't be ended yet");
        }
        Self {
            task: (!has_ended).then_some(task),
            ended,
        }
    }
}
