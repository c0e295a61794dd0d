//! Jobs: work with a plan of steps that goes on while nobody looks (`docs/jobs.md`).
//!
//! - [`context`]: the job as its plan sees it; performs its steps
//! - [`step`]: the trait of kinds of steps, and the job as a step sees it
//! - [`ask`]: model calls of steps, whose answers are JSON of a type
//! - [`active_jobs`]: the active jobs of this process
//! - [`drive`]: takes jobs and drives each to its end

mod active_jobs;
mod ask;
mod context;
mod drive;
mod end;
mod step;
#[cfg(test)]
mod tests;

use std::{collections::HashMap, sync::Arc};

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use self::active_jobs::ActiveJobs;
use crate::{Runs, StartError};
use parlor_base::settings::{JobSettings, Settings};
use parlor_journal::JournalError;
use parlor_protocol::{ApiError, Dollars, ErrorCode, JobId, RawJson, UserId};
use parlor_storage::{
    Change, ChangeRejection, Outcome, StorageErrorKind,
    jobs::{JobChange, JobKey, JobLimits, JobOutput, NewJob, StoredJob},
    schedules::ScheduledStart,
};

pub use self::{
    ask::Question,
    context::JobContext,
    end::JobEnd,
    step::{Step, StepContext, StepError},
};

/// A kind of job: the check of its input, and its plan.
pub trait JobKind: Send + Sync + 'static {
    /// The name on the wire and in the database.
    fn name(&self) -> &'static str;

    /// The version of the plan. A job of another version is not continued.
    fn version(&self) -> u32;

    /// Checks the input of a new job.
    ///
    /// # Errors
    ///
    /// If the input is not of the kind's type, or names something that the user does not have.
    fn prepare<'a>(
        &'a self,
        user_id: UserId,
        input: &'a RawJson,
    ) -> BoxFuture<'a, Result<PreparedJob, ApiError>>;

    /// Performs the plan, from its beginning each time. It may depend on the input of the job and on results of steps only. Returns the
    /// result as JSON.
    ///
    /// # Errors
    ///
    /// The end that a step has returned, or that of the plan itself.
    fn run<'a>(&'a self, job: &'a JobContext) -> BoxFuture<'a, Result<String, JobEnd>>;
}

/// A checked input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedJob {
    pub title: String,
    /// JSON of the kind's type.
    pub input: String,
}

/// A request for a new job.
#[derive(Clone, Debug)]
pub struct JobRequest {
    pub id: JobId,
    pub kind: String,
    pub input: RawJson,
    /// The model of its steps; the default one if missing.
    pub model: Option<String>,
    pub cost_limit: Option<Dollars>,
    /// The request, to tell it from another one under the same id.
    pub fingerprint: String,
    /// The planned time that starts it, if a schedule does.
    pub scheduled: Option<ScheduledStart>,
}

/// All jobs of this process. Clones refer to the same.
#[derive(Clone)]
pub struct Jobs(Arc<Inner>);

struct Inner {
    runs: Runs,
    kinds: HashMap<&'static str, Arc<dyn JobKind>>,
    settings: JobSettings,
    /// The number of times that a job goes on by itself without a finished step in between.
    max_resumptions: usize,
    active: ActiveJobs,
    /// Cancelled when the server shuts down.
    shutdown: CancellationToken,
}

impl Jobs {
    pub fn new(runs: Runs, kinds: Vec<Arc<dyn JobKind>>, settings: &Settings) -> Self {
        Self(Arc::new(Inner {
            runs,
            kinds: kinds.into_iter().map(|kind| (kind.name(), kind)).collect(),
            settings: settings.jobs.clone(),
            max_resumptions: settings.agent.max_resumptions,
            active: ActiveJobs::default(),
            shutdown: CancellationToken::new(),
        }))
    }

    /// Returns the number of jobs on which this process works.
    pub fn active_count(&self) -> usize {
        self.0.active.count()
    }

    /// Starts a job. The same request again returns the same job.
    ///
    /// # Errors
    ///
    /// If the request is not valid, a limit is reached, or storage fails.
    pub async fn start(&self, user_id: UserId, request: JobRequest) -> Result<StoredJob, ApiError> {
        // What the request names may have been deleted since its first copy.
        if let Some(known) = self.stored(user_id, request.id).await? {
            return match known.fingerprint == request.fingerprint {
                true => Ok(known),
                false => Err(ChangeRejection::IntentReused.into()),
            };
        }
        let kind = self.0.kinds.get(request.kind.as_str()).ok_or_else(|| {
            let mut names: Vec<_> = self.0.kinds.keys().copied().collect();
            names.sort_unstable();
            ApiError::new(
                ErrorCode::BadRequest,
                format!(
                    "There is no such kind of job. Nothing was started; the kinds are: {}.",
                    names.join(", ")
                ),
            )
        })?;
        let model = self.model(user_id, request.model).await?;
        let prepared = kind.prepare(user_id, &request.input).await?;
        let job = NewJob {
            id: request.id,
            kind: request.kind,
            version: kind.version(),
            title: prepared.title,
            input: prepared.input,
            model,
            cost_limit: request.cost_limit,
            fingerprint: request.fingerprint,
        };
        let id = job.id;
        let limits = JobLimits {
            stored: self.0.settings.stored,
            running: self.0.settings.running,
        };
        let start = JobChange::Start {
            job,
            limits,
            scheduled: request.scheduled,
        };
        self.take(user_id, id, start).await?;
        self.require(user_id, id).await
    }

    /// Continues a job that was stopped, failed or waits; with a limit, that is its cost limit from now on.
    ///
    /// # Errors
    ///
    /// If the job is complete or running, a limit is reached, or storage fails.
    pub async fn go_on(
        &self,
        user_id: UserId,
        job_id: JobId,
        cost_limit: Option<Dollars>,
    ) -> Result<StoredJob, ApiError> {
        let change = JobChange::Continue {
            job_id,
            cost_limit,
            running: self.0.settings.running,
        };
        self.take(user_id, job_id, change).await?;
        self.require(user_id, job_id).await
    }

    /// Stops a job and waits until that is committed. A job that has ended stays as it is.
    ///
    /// # Errors
    ///
    /// If there is no such job, or storage fails.
    pub async fn stop(&self, user_id: UserId, job_id: JobId) -> Result<StoredJob, ApiError> {
        self.require(user_id, job_id).await?;
        match self.end_work(user_id, job_id, JobChange::Stop { job_id }).await {
            Ok(_) | Err(JournalError::Rejected(ChangeRejection::JobEnded)) => {
                self.require(user_id, job_id).await
            }
            Err(error) => Err(api_error(error)),
        }
    }

    /// Ends the work of a job and deletes it with all its data. Has no effect on one that is deleted already. While storage fails, it
    /// waits until the calls that it cuts off are counted.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn delete(&self, user_id: UserId, job_id: JobId) -> Result<(), ApiError> {
        self.end_work(user_id, job_id, JobChange::Delete { job_id })
            .await?;
        Ok(())
    }

    /// Ends the work of a job and commits a change after it, so that the calls that are cut off have been counted.
    ///
    /// This runs in a task of its own: the caller may go away, and the change must still be committed.
    async fn end_work(
        &self,
        user_id: UserId,
        job_id: JobId,
        change: JobChange,
    ) -> Result<Outcome, JournalError> {
        let jobs = self.clone();
        let ending = tokio::spawn(async move {
            jobs.0.active.stop(user_id, job_id).await;
            jobs.submit(user_id, change).await
        });
        let unavailable = JournalError::Unavailable(StorageErrorKind::Other);
        ending.await.map_err(|_| unavailable)?
    }

    /// Returns the full name of the model that a user asks for, or of the default one.
    ///
    /// # Errors
    ///
    /// If the user may not use it, or there is none.
    pub async fn model(&self, user_id: UserId, name: Option<String>) -> Result<String, ApiError> {
        let runs = &self.0.runs;
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            return Ok(runs.find_model(user_id, &name).await?);
        }
        let permissions = runs.permissions(user_id).await?;
        let default = runs.allowed_models(&permissions).await.default;
        default.ok_or_else(|| {
            ApiError::new(
                ErrorCode::UnknownModel,
                "There is no model for this job. Nothing was started; name one, or add a model server in the settings.",
            )
        })
    }

    /// Returns a job of a user.
    ///
    /// # Errors
    ///
    /// If storage fails, or there is none.
    pub async fn require(&self, user_id: UserId, job_id: JobId) -> Result<StoredJob, ApiError> {
        self.stored(user_id, job_id).await?.ok_or_else(job_not_found)
    }

    async fn stored(&self, user_id: UserId, job_id: JobId) -> Result<Option<StoredJob>, ApiError> {
        Ok(self.0.runs.0.storage.job(user_id, job_id).await?)
    }

    async fn submit(&self, user_id: UserId, change: JobChange) -> Result<Outcome, JournalError> {
        self.0
            .runs
            .0
            .journal
            .submit(Change::Job { user_id, change })
            .await
    }

    /// Stores output of a job.
    async fn store(&self, key: JobKey, output: JobOutput) -> Result<(), JournalError> {
        let change = JobChange::Output {
            job_id: key.job_id,
            fence: key.fence,
            output,
        };
        self.submit(key.user_id, change).await.map(|_| ())
    }
}

/// Returns the error of a request about a job that could not be stored.
fn api_error(error: JournalError) -> ApiError {
    match error {
        JournalError::Rejected(ChangeRejection::NotFound) => job_not_found(),
        error => error.into(),
    }
}

/// Returns the error for a job that does not exist or belongs to another user, with the same text.
fn job_not_found() -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        "There is no such job. It may have been deleted.",
    )
}

/// Returns the error of a start while the server shuts down.
fn shutting_down() -> ApiError {
    StartError::ShuttingDown.into()
}
