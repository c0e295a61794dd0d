//! Jobs: the stored types, the changes and the queries.

use std::fmt;

use async_trait::async_trait;
use uuid::Uuid;

use super::{RecordedModelCall, StorageError, schedules::ScheduledStart};
use parlor_protocol::{
    Dollars, JobId, RunError, RunStatus, Timestamp, TokenTotals, UserId,
    job::{Job, JobList},
};

/// The process that works on something: a new one at each start of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Owner(pub Uuid);

impl Owner {
    /// Returns the owner for a process that starts.
    pub fn of_new_process() -> Self {
        Self(Uuid::now_v7())
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number under which a process has taken a job. It grows each time the job is taken or stopped, so that output of an earlier
/// owner is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(pub u64);

impl Fence {
    /// Returns the number of the next one that takes the job.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A job that was taken, for its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JobKey {
    pub user_id: UserId,
    pub job_id: JobId,
    pub fence: Fence,
}

/// A stored job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredJob {
    pub user_id: UserId,
    pub job: Job,
    /// The version of its kind.
    pub version: u32,
    /// JSON of the kind's type.
    pub input: String,
    /// JSON of the kind's type, once it is complete.
    pub result: Option<String>,
    /// The request that started it.
    pub fingerprint: String,
    /// The number of times that it was resumed by itself since a step finished.
    pub resumptions: usize,
    pub owner: Owner,
    pub fence: Fence,
}

/// A step of a job. It has a result if it has an output or an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredStep {
    /// Unique in its job, and the same in each replay of the plan.
    pub key: String,
    pub kind: String,
    /// The version of its kind.
    pub version: u32,
    /// JSON of the step's type.
    pub input: String,
    pub output: Option<String>,
    pub error: Option<RunError>,
    /// The number of times that it was started.
    pub attempts: usize,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

/// A new job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewJob {
    pub id: JobId,
    pub kind: String,
    pub version: u32,
    pub title: String,
    /// JSON of the kind's type.
    pub input: String,
    pub model: String,
    pub cost_limit: Option<Dollars>,
    /// The request, to tell it from another one under the same id.
    pub fingerprint: String,
}

/// The maximum numbers of a user's jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobLimits {
    /// Stored jobs.
    pub stored: usize,
    /// Running jobs.
    pub running: usize,
}

/// A change of a user's job. This process becomes the owner of a job that it takes.
#[derive(Clone, Debug)]
pub enum JobChange {
    /// Starts a job, perhaps at a planned time of a schedule. The same request again has no further effect. Rejected with `NotFound`
    /// if the schedule was deleted or changed meanwhile, or if the planned time has started something before.
    Start {
        job: NewJob,
        limits: JobLimits,
        scheduled: Option<ScheduledStart>,
    },
    /// Takes a job for its user, who continues it. With a limit, that is its cost limit from now on. Rejected if the job is complete
    /// or running.
    Continue {
        job_id: JobId,
        cost_limit: Option<Dollars>,
        /// The maximum number of the user's running jobs.
        running: usize,
    },
    /// Ends a job that its user has stopped, whatever its owner is. Rejected if the job has ended.
    Stop { job_id: JobId },
    /// Takes a running job that was taken under this number, and whose owner is gone. The same request again has no further effect.
    /// Rejected if the job is not running, or was taken since.
    Recover { job_id: JobId, fence: Fence },
    /// Stores output of a job, if it is still taken under this number.
    Output {
        job_id: JobId,
        fence: Fence,
        output: JobOutput,
    },
    /// Notes that the user has looked at a job.
    MarkSeen { job_id: JobId },
    /// Deletes a job with all its data.
    Delete { job_id: JobId },
}

/// The output of a job. It is kept and tried again while storage fails.
#[derive(Clone, Debug)]
pub enum JobOutput {
    /// A step begins. Must come before its execution. A step that has a result is not found, and none begins for a disabled account.
    StartStep {
        key: String,
        kind: &'static str,
        version: u32,
        /// JSON of the step's type.
        input: String,
    },
    /// A step has ended with an output (JSON of its type) or an error of its own.
    FinishStep {
        key: String,
        result: Result<String, RunError>,
        /// The tokens of its model calls.
        totals: TokenTotals,
        /// The number of steps that are known so far. It never shrinks.
        total: usize,
        /// The estimated time left, in milliseconds.
        left_ms: Option<u64>,
    },
    /// Counts model calls of a step that has no result.
    CountCalls { totals: TokenTotals },
    /// Records a model call of a step.
    RecordCall { step: String, call: RecordedModelCall },
    /// The job needs a decision of its user. No task works on it.
    Pause {
        error: RunError,
        /// The step whose outcome is unknown.
        waits_for: Option<String>,
    },
    /// The job has ended.
    End {
        status: RunStatus,
        error: Option<RunError>,
        /// JSON of the kind's type.
        result: Option<String>,
    },
}

/// The queries about jobs.
#[async_trait]
pub trait JobStorage {
    /// Returns all jobs of a user, newest first.
    async fn jobs(&self, user_id: UserId) -> Result<JobList, StorageError>;

    /// Returns the jobs of a kind that have ended or wait, and that their user has not looked at since, newest first.
    async fn unseen_jobs(&self, user_id: UserId, kind: &str) -> Result<Vec<JobId>, StorageError>;

    /// Returns a job of a user.
    async fn job(&self, user_id: UserId, job_id: JobId) -> Result<Option<StoredJob>, StorageError>;

    /// Returns the last complete job of the same kind with the same input that was started before a job of a user.
    async fn job_before(&self, user_id: UserId, job_id: JobId) -> Result<Option<StoredJob>, StorageError>;

    /// Returns the jobs of a user that have this kind and input, newest first, without their inputs and results.
    async fn jobs_of_input(
        &self,
        user_id: UserId,
        kind: &str,
        input: &str,
    ) -> Result<Vec<StoredJob>, StorageError>;

    /// Returns the finished steps of one kind of a user's job, in the order of their first starts.
    async fn finished_steps(
        &self,
        user_id: UserId,
        job_id: JobId,
        kind: &str,
    ) -> Result<Vec<StoredStep>, StorageError>;

    /// Returns a step of a user's job.
    async fn job_step(
        &self,
        user_id: UserId,
        job_id: JobId,
        key: &str,
    ) -> Result<Option<StoredStep>, StorageError>;

    /// Returns true if a user has a job of a kind.
    async fn has_jobs(&self, user_id: UserId, kind: &str) -> Result<bool, StorageError>;

    /// Returns the steps of a user's job, in the order of their first starts.
    async fn job_steps(&self, user_id: UserId, job_id: JobId) -> Result<Vec<StoredStep>, StorageError>;

    /// Returns the recorded model calls of a user's job, oldest first, each with the key of its step.
    async fn job_calls(
        &self,
        user_id: UserId,
        job_id: JobId,
    ) -> Result<Vec<(String, RecordedModelCall)>, StorageError>;

    /// Returns the running jobs of all users.
    async fn running_jobs(&self) -> Result<Vec<JobKey>, StorageError>;
}
