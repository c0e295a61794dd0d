//! The outcomes of changes.

use super::{damage::DamagedRow, jobs::Fence};
use parlor_protocol::{MessageId, intent::StartedRun};

/// The effect of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The place of the conversation in the list is the requested one already. Nothing was logged.
    Unchanged,
    /// The conversation was deleted, with the run that was active in it.
    Deleted {
        active_run: Option<MessageId>,
    },
    /// Personal data of the user was deleted.
    DataDeleted,
    /// The article is saved already with a different note, which is kept.
    NoteConflict,
    /// A job was started or taken, now or (`again`) by an earlier copy of the same request.
    JobTaken {
        fence: Fence,
        again: bool,
    },
    /// The message waits in its conversation's queue. The run begins later, with the announced id.
    Queued(StartedRun),
    /// A run was started, now or (`again`) by an earlier copy of the same intent.
    Started {
        started: StartedRun,
        again: bool,
    },
}

/// The reason for which a change was rejected. Nothing of it was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeRejection {
    #[error("there is no such thing, or it belongs to another user")]
    NotFound,
    #[error("an internal error; see Parlor's log")]
    Internal,
    /// A row that the change needs can't be read.
    #[error("a stored row is damaged")]
    Damaged(Option<DamagedRow>),
    #[error("the note was changed meanwhile")]
    NoteChanged,
    #[error("a run is active in this conversation")]
    RunActive,
    #[error("only the last answer of a branch can be continued, and only if it was cut off")]
    NotContinuable,
    #[error("the id was used for a different request")]
    IntentReused,
    #[error("the action was taken already, or is no longer suggested")]
    ActionAlreadyTaken,
    #[error("a file of the message does not exist, or it is in another message")]
    FileNotFound,
    #[error("an answer that is being written, or a message that waits, has the file")]
    FileInUse,
    #[error("the message has neither text nor files")]
    EmptyMessage,
    #[error("the queue is full")]
    QueueFull,
    #[error("the memory limit is reached")]
    MemoryFull,
    #[error("the limit of saved articles or research streams is reached")]
    LibraryFull,
    #[error("the limit of API tokens is reached")]
    TokensFull,
    #[error("the limit of schedules is reached")]
    SchedulesFull,
    #[error("the limit of projects is reached")]
    ProjectsFull,
    #[error("the project was changed meanwhile")]
    ProjectChanged,
    #[error("the project does not exist")]
    ProjectNotFound,
    #[error("the limit of files in a project is reached")]
    ProjectFilesFull,
    #[error("the limit of readers of a project is reached")]
    ProjectReadersFull,
    #[error("a reader has reached the limit of projects of others")]
    SharedProjectsFull,
    #[error("the limit of pinned conversations is reached")]
    PinsFull,
    #[error("the limit of shares is reached")]
    SharesFull,
    #[error("another process has taken over the work")]
    FenceLost,
    #[error("the job is running")]
    JobActive,
    #[error("the job has ended")]
    JobEnded,
    #[error("the account is disabled")]
    AccountDisabled,
    #[error("the limit of jobs is reached")]
    JobsFull,
    #[error("the limit of columns is reached")]
    ColumnsFull,
    #[error("the limit of tables with columns is reached")]
    ColumnSourcesFull,
    #[error("the limit of corrections is reached")]
    CorrectionsFull,
    #[error("the limit of active answers is reached")]
    TooManyRuns,
    #[error("the limit of running jobs is reached")]
    TooManyJobs,
    #[error("another model server has this name")]
    EndpointNameTaken,
    #[error("the limit of model servers is reached")]
    EndpointsFull,
    #[error("another account has this name")]
    NameTaken,
    #[error("the first account exists already")]
    SetupDone,
    #[error("the first account is not made yet")]
    SetupNeeded,
    #[error("it is the last administrator")]
    LastAdministrator,
    #[error("there is no other account that could get the data")]
    NoHeir,
    #[error("the deletion of the account has not begun, or was given up")]
    DeletionGivenUp,
}
