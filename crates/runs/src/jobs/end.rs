//! The ends of a job's work.

use crate::agent::run_error;
use parlor_journal::JournalError;
use parlor_protocol::RunError;
use parlor_storage::ChangeRejection;

/// The reason why a plan did not come to its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobEnd {
    /// The user has stopped it.
    Stopped,
    /// The server shuts down. The next start goes on.
    ShuttingDown,
    Failed(RunError),
    /// It was resumed too often without a finished step.
    Interrupted(RunError),
    /// It needs a decision of its user.
    Waiting {
        error: RunError,
        /// The step whose outcome is unknown.
        waits_for: Option<String>,
    },
    /// Somebody else has taken the job, or it was deleted. Nothing more can be stored.
    Lost,
}

impl JobEnd {
    /// The end of a plan that breaks the rules of plans.
    pub fn invalid_plan(what: &str) -> Self {
        Self::Failed(run_error(
            "internal",
            format!("This job can't go on: {what}."),
            "The finished steps are kept. This is a fault of Parlor; start the job again as a new one.",
        ))
    }
}

/// A change that was not stored.
impl From<JournalError> for JobEnd {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Rejected(
                ChangeRejection::FenceLost | ChangeRejection::NotFound | ChangeRejection::JobEnded,
            ) => Self::Lost,
            JournalError::Rejected(ChangeRejection::AccountDisabled) => Self::Waiting {
                error: run_error(
                    "account_disabled",
                    "Your account is disabled, so no further step begins.".into(),
                    "The finished steps are kept. Continue the job when the account is enabled again.",
                ),
                waits_for: None,
            },
            error => Self::Failed(run_error(
                "storage",
                format!("A step could not be stored: {error}."),
                "The finished steps are kept. Parlor's log says more; continue the job when storage works.",
            )),
        }
    }
}

pub(super) fn unknown_outcome(key: &str) -> JobEnd {
    JobEnd::Waiting {
        error: run_error(
            "outcome_unknown",
            format!("Parlor ended during the step “{key}”, and nobody knows whether it had its effect."),
            "The finished steps are kept. Look whether it had; continuing the job runs the step again.",
        ),
        waits_for: Some(key.to_owned()),
    }
}

pub(super) fn cost_limit_reached(cost: &str, limit: &str) -> JobEnd {
    JobEnd::Waiting {
        error: run_error(
            "cost_limit",
            format!("This job has cost {cost}; its limit is {limit}."),
            "The finished steps are kept. Continue it with a higher limit, or leave it.",
        ),
        waits_for: None,
    }
}

pub(super) fn resumed_too_often() -> JobEnd {
    JobEnd::Interrupted(run_error(
        "interrupted",
        "Parlor ended again and again during this job.".into(),
        "The finished steps are kept, and continuing the job goes on after them. The limit is the setting agent.max_resumptions.",
    ))
}

pub(super) fn other_version(version: u32) -> JobEnd {
    JobEnd::Failed(run_error(
        "other_version",
        format!("This job was begun by another version of Parlor (plan {version})."),
        "The finished steps are kept. Start it again as a new job.",
    ))
}

pub(super) fn panicked() -> RunError {
    run_error(
        "internal",
        "An internal error in Parlor interrupted this job.".into(),
        "The finished steps are kept. Continue it, or look into Parlor's log.",
    )
}
