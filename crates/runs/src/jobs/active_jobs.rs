//! The active jobs of this process, so that they can be stopped and waited for.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use parlor_protocol::{JobId, UserId};
use parlor_storage::jobs::JobKey;

/// The active jobs. A job that was taken again may be in it twice for a moment.
#[derive(Clone, Default)]
pub(super) struct ActiveJobs(Arc<Mutex<HashMap<JobKey, ActiveJob>>>);

#[derive(Clone)]
struct ActiveJob {
    stop: CancellationToken,
    /// Closed when the job is no longer active.
    closed: watch::Receiver<()>,
}

/// The place of an active job. Dropping it wakes everybody who waits for its end.
pub(super) struct JobSlot {
    active: ActiveJobs,
    key: JobKey,
    /// Cancelled to stop the job.
    pub stop: CancellationToken,
    _end: watch::Sender<()>,
}

impl ActiveJobs {
    /// Adds a job to the active ones. Returns `None` if it is active under the same number already.
    pub fn enter(&self, key: JobKey) -> Option<JobSlot> {
        let stop = CancellationToken::new();
        let (end, closed) = watch::channel(());
        let job = ActiveJob {
            stop: stop.clone(),
            closed,
        };
        match self.0.lock().entry(key) {
            Entry::Occupied(_) => return None,
            Entry::Vacant(entry) => entry.insert(job),
        };
        Some(JobSlot {
            active: self.clone(),
            key,
            stop,
            _end: end,
        })
    }

    /// Returns the number of active jobs.
    pub fn count(&self) -> usize {
        self.0.lock().len()
    }

    /// Stops a job of a user and waits until it is no longer active.
    pub async fn stop(&self, user_id: UserId, job_id: JobId) {
        let found: Vec<ActiveJob> = {
            let jobs = self.0.lock();
            jobs.iter()
                .filter(|(key, _)| (key.user_id, key.job_id) == (user_id, job_id))
                .map(|(_, job)| job.clone())
                .collect()
        };
        for mut job in found {
            job.stop.cancel();
            // The sender never sends: it is closed when the slot is dropped.
            let _ = job.closed.changed().await;
        }
    }

    /// Returns the active jobs.
    pub fn keys(&self) -> Vec<JobKey> {
        self.0.lock().keys().copied().collect()
    }

    /// Ends the work of a job that another process has taken. What it still wants to store is refused.
    pub fn lose(&self, key: JobKey) {
        if let Some(job) = self.0.lock().get(&key) {
            job.stop.cancel();
        }
    }

    /// Waits until no job is active.
    pub async fn wait_until_all_ended(&self) {
        loop {
            let any = self.0.lock().values().next().cloned();
            let Some(mut job) = any else { return };
            let _ = job.closed.changed().await;
        }
    }
}

impl Drop for JobSlot {
    fn drop(&mut self) {
        self.active.0.lock().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use parlor_storage::jobs::Fence;

    #[test]
    fn a_job_is_stopped_for_its_user_alone() {
        let active = ActiveJobs::default();
        let key = JobKey {
            user_id: UserId::new(),
            job_id: JobId::new(),
            fence: Fence(1),
        };
        let slot = active.enter(key).expect("it is not active");
        assert!(active.enter(key).is_none(), "it is driven once");
        assert_eq!(active.stop(UserId::new(), key.job_id).now_or_never(), Some(()));
        assert!(!slot.stop.is_cancelled());
        assert_eq!(
            active.stop(key.user_id, key.job_id).now_or_never(),
            None,
            "it waits"
        );
        assert!(slot.stop.is_cancelled());
    }
}
