//! Takes jobs and drives each to its end. What an earlier process left running goes on by itself.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use tokio::sync::oneshot;
use tracing::Instrument;

use super::{
    Jobs,
    active_jobs::JobSlot,
    api_error,
    context::JobContext,
    end::{JobEnd, other_version, panicked, resumed_too_often},
    shutting_down,
};
use crate::{ReadError, log_span};
use parlor_base::{crash_point, metrics::runs::WorkKind};
use parlor_journal::JournalError;
use parlor_protocol::{ApiError, ErrorCode, JobId, RunStatus, UserId};
use parlor_storage::{
    ChangeRejection, Outcome, StorageError, StorageErrorKind,
    jobs::{JobChange, JobKey, JobOutput, StoredJob, StoredStep},
};

impl Jobs {
    /// Takes the jobs that an earlier process left running.
    pub async fn recover(&self) {
        let runs = &self.0.runs.0;
        let read = || runs.storage.running_jobs();
        let Ok(left) = runs
            .retry_read("the jobs that the last process left running", read)
            .await
        else {
            return;
        };
        for key in left {
            let JobKey {
                user_id,
                job_id,
                fence,
            } = key;
            let recover = JobChange::Recover { job_id, fence };
            let taken = self.take(user_id, job_id, recover).await;
            let Err(error) = taken else {
                runs.journal.metrics().runs.count_takeover(WorkKind::Job);
                continue;
            };
            // A request may have taken, ended or deleted it meanwhile.
            let is_settled = matches!(
                error.code,
                ErrorCode::RunActive | ErrorCode::NotContinuable | ErrorCode::NotFound
            );
            if !is_settled {
                tracing::warn!(error = error.message, job = %job_id, "a job can't go on");
            }
        }
    }

    /// Ends the work on jobs that other nodes have taken, stopped or deleted.
    ///
    /// # Errors
    ///
    /// If the database can't be read.
    pub async fn drop_lost_jobs(&self) -> Result<(), StorageError> {
        let active = self.0.active.keys();
        for key in self.0.runs.0.storage.lost_jobs(&active).await? {
            self.0.active.lose(key);
        }
        Ok(())
    }

    /// Ends the work on all jobs, since this node has lost its lease, and waits until that is done.
    pub async fn drop_all(&self) {
        for key in self.0.active.keys() {
            self.0.active.lose(key);
        }
        self.0.active.wait_until_all_ended().await;
    }

    /// Ends the work of all jobs. They stay running, for the next start.
    pub async fn shut_down(&self) {
        self.0.shutdown.cancel();
        self.0.active.wait_until_all_ended().await;
    }

    /// Commits the change that takes a job, and drives the job to its end.
    ///
    /// This runs in a task of its own: the caller may go away at any moment, and a job that was taken must be driven.
    pub(super) async fn take(
        &self,
        user_id: UserId,
        job_id: JobId,
        change: JobChange,
    ) -> Result<(), ApiError> {
        if self.0.shutdown.is_cancelled() {
            return Err(shutting_down());
        }
        let (answer, answered) = oneshot::channel();
        let jobs = self.clone();
        let work = async move {
            let outcome = jobs.submit(user_id, change).await;
            let taken = match outcome {
                Ok(Outcome::JobTaken { fence, again: false }) => Some(JobKey {
                    user_id,
                    job_id,
                    fence,
                }),
                _ => None,
            };
            let slot = taken.and_then(|key| Some((key, jobs.0.active.enter(key)?)));
            // The caller may have gone away.
            let _ = answer.send(outcome.map(|_| ()));
            if let Some((key, slot)) = slot {
                jobs.drive(key, slot).await;
            }
        };
        tokio::spawn(work.instrument(log_span::of_job(user_id, job_id)));
        let unavailable = JournalError::Unavailable(StorageErrorKind::Other);
        let taken = answered.await.map_err(|_| unavailable);
        taken.flatten().map_err(api_error)
    }

    async fn drive(&self, key: JobKey, slot: JobSlot) {
        let planned = AssertUnwindSafe(self.run_plan(key, &slot)).catch_unwind().await;
        let ended = |status, error| JobOutput::End {
            status,
            error,
            result: None,
        };
        let output = match planned {
            Ok(Ok(result)) => JobOutput::End {
                status: RunStatus::Complete,
                error: None,
                result: Some(result),
            },
            Ok(Err(JobEnd::ShuttingDown | JobEnd::Lost)) => return,
            Ok(Err(JobEnd::Stopped)) => ended(RunStatus::Stopped, None),
            Ok(Err(JobEnd::Failed(error))) => ended(RunStatus::Failed, Some(error)),
            Ok(Err(JobEnd::Interrupted(error))) => ended(RunStatus::Interrupted, Some(error)),
            Ok(Err(JobEnd::Waiting { error, waits_for })) => JobOutput::Pause { error, waits_for },
            Err(_) => {
                tracing::error!(job = %key.job_id, "the plan of a job panicked");
                ended(RunStatus::Interrupted, Some(panicked()))
            }
        };
        crash_point!("job::ending");
        match self.store(key, output).await {
            Ok(()) => {}
            Err(JournalError::Rejected(ChangeRejection::FenceLost)) => {
                tracing::debug!(job = %key.job_id, "a job was taken or stopped meanwhile");
            }
            Err(error) => tracing::warn!(%error, job = %key.job_id, "the end of a job could not be stored"),
        }
        crash_point!("job::ended");
    }

    /// Returns the finished steps of the last complete job with the same input, and of those that were started after it, if they
    /// have the same model: the older ones first. A step has a version of its own, so that those of an earlier plan are taken, too.
    async fn earlier_steps(&self, job: &StoredJob) -> Result<Vec<StoredStep>, StorageError> {
        let storage = &self.0.runs.0.storage;
        let jobs = storage
            .jobs_of_input(job.user_id, &job.job.kind, &job.input)
            .await?;
        let mut same = Vec::new();
        let before = jobs.into_iter().skip_while(|other| other.job.id != job.job.id);
        for other in before.skip(1) {
            if other.job.model == job.job.model {
                same.push(other.job.id);
            }
            if other.job.status == RunStatus::Complete {
                break;
            }
        }
        let mut steps = Vec::new();
        for id in same.into_iter().rev() {
            let found = storage.job_steps(job.user_id, id).await?;
            steps.extend(found.into_iter().filter(|step| step.output.is_some()));
        }
        Ok(steps)
    }

    async fn run_plan(&self, key: JobKey, slot: &JobSlot) -> Result<String, JobEnd> {
        let (user_id, job_id) = (key.user_id, key.job_id);
        let runs = &self.0.runs.0;
        let read_error = |error| match error {
            ReadError::ShuttingDown => JobEnd::ShuttingDown,
            ReadError::Damaged => JobEnd::Failed(crate::agent::database_damaged()),
        };
        let read = || runs.storage.job(user_id, job_id);
        let job = runs.retry_read("a job", read).await.map_err(read_error)?;
        let job = job.filter(|job| job.fence == key.fence).ok_or(JobEnd::Lost)?;
        if job.resumptions > self.0.max_resumptions {
            return Err(resumed_too_often());
        }
        let kind = self.0.kinds.get(job.job.kind.as_str());
        let kind = kind.filter(|kind| kind.version() == job.version);
        let kind = kind.ok_or_else(|| other_version(job.version))?;
        let read = || runs.storage.job_steps(user_id, job_id);
        let steps = runs
            .retry_read("the steps of a job", read)
            .await
            .map_err(read_error)?;
        // They save model calls; without them, the job performs all of its steps.
        let earlier = self.earlier_steps(&job).await.unwrap_or_default();
        let context = JobContext::new(self.clone(), key, job, (steps, earlier), slot.stop.clone());
        let result = kind.run(&context).await;
        // What ended the first step says more than what the plan made of it.
        match context.take_end() {
            Some(end) => Err(end),
            None => result,
        }
    }
}
