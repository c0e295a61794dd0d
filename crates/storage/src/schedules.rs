//! Schedules: the changes and the queries.

use async_trait::async_trait;

use super::StorageError;
use parlor_protocol::{ListedSchedule, Schedule, ScheduleId, Timestamp, UserId};

/// A change of a user's schedules.
#[derive(Clone, Debug)]
pub enum ScheduleChange {
    /// Saves a schedule, if there are fewer than `limit`, or replaces a saved one. It is next sent at `next_at`.
    Save {
        id: ScheduleId,
        schedule: Box<Schedule>,
        next_at: Option<Timestamp>,
        limit: usize,
    },
    Delete {
        id: ScheduleId,
    },
    /// Goes on to another planned time without sending anything, unless the schedule was changed meanwhile.
    Skip {
        advance: ScheduleAdvance,
        /// True if the schedule pauses until its user resumes it.
        is_paused: bool,
    },
}

/// The advance of a schedule from one planned time to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleAdvance {
    pub id: ScheduleId,
    /// The planned time of the schedule before the advance. Another one means that the schedule was changed meanwhile.
    pub from: Timestamp,
    pub next_at: Option<Timestamp>,
    /// A notice for its user; empty if there is none.
    pub notice: String,
}

/// The start of a run by a schedule, besides the message that is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledStart {
    pub schedule_id: ScheduleId,
    /// The planned time, which counts once.
    pub planned_at: Timestamp,
    pub started_at: Timestamp,
    /// The advance to the next planned time. `None` if the user runs the schedule by hand, besides its planned times.
    pub advance: Option<ScheduleAdvance>,
}

/// A schedule whose planned time has come, with its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueSchedule {
    pub user_id: UserId,
    pub listed: ListedSchedule,
}

/// The queries about schedules. The costs are those since `month`, the beginning of a month.
#[async_trait]
pub trait ScheduleStorage {
    /// Returns the schedules of a user, oldest first.
    async fn schedules(&self, user_id: UserId, month: Timestamp)
    -> Result<Vec<ListedSchedule>, StorageError>;

    /// Returns a schedule of a user.
    async fn schedule(
        &self,
        user_id: UserId,
        id: ScheduleId,
        month: Timestamp,
    ) -> Result<Option<ListedSchedule>, StorageError>;

    /// Returns true if a user has schedules.
    async fn has_schedules(&self, user_id: UserId) -> Result<bool, StorageError>;

    /// Returns at most `limit` schedules of all users whose planned time has come, the most overdue first. Those of disabled
    /// accounts wait.
    async fn due_schedules(
        &self,
        now: Timestamp,
        month: Timestamp,
        limit: usize,
    ) -> Result<Vec<DueSchedule>, StorageError>;
}
