//! Jobs: work with a plan of steps that goes on while nobody looks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Dollars, JobId, Position, RunError, RunStatus, Timestamp, TokenTotals};

/// A job without its input, steps and result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    pub id: JobId,
    /// The name of its plan, such as `report`.
    pub kind: String,
    pub title: String,
    /// `waiting`: it needs a decision; `error` says which.
    pub status: RunStatus,
    /// The model of its steps, as `endpoint/model`.
    pub model: String,
    pub progress: JobProgress,
    /// The tokens and the cost of all model calls so far.
    pub totals: TokenTotals,
    /// The cost in US dollars at which it begins no further step; missing without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_limit: Option<Dollars>,
    /// The reason why it waits or did not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
    /// The key of the step whose outcome is unknown. Continuing the job runs it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    /// True if it has ended, or waits for a decision, since the user last looked at it. Of columns never: they are seen where their rows are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unseen: bool,
    pub created_at: Timestamp,
    /// Missing until it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

/// The progress of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobProgress {
    /// The number of finished steps.
    pub done: usize,
    /// The number of steps that are known so far, finished ones included.
    pub total: usize,
    /// The estimated time until the known steps are finished, in milliseconds; missing while it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_ms: Option<u64>,
}

/// All jobs of a user, as they stood at a position of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobList {
    /// The last position that this state includes. Skip events up to it.
    pub as_of: Position,
    /// Newest first.
    pub jobs: Vec<Job>,
}

/// A change of the jobs of a user.
#[allow(
    clippy::large_enum_variant,
    reason = "nearly all of them are changes, and none is kept"
)]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobUpdate {
    /// A job began or changed. The erasure of logged events (`crates/storage/src/sql/commit/jobs`) has the name in a path.
    Changed(Job),
    Deleted(JobId),
}
