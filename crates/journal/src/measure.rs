//! The starts and ends of work, for operators: each is a committed change, so that none is missed or counted twice.

use parlor_base::metrics::runs::{RunMetrics, WorkEnd, WorkKind};
use parlor_protocol::RunStatus;
use parlor_storage::{
    Change, ChangeRejection, ConversationChange, Outcome, RunOutput,
    jobs::{JobChange, JobOutput},
};

/// Counts the starts and ends among committed changes.
pub(super) fn count_changes(
    metrics: &RunMetrics,
    changes: &[Change],
    outcomes: &[Result<Outcome, ChangeRejection>],
) {
    for (change, outcome) in changes.iter().zip(outcomes) {
        let Ok(outcome) = outcome else { continue };
        if let Some(kind) = started_work(change, outcome) {
            metrics.count_start(kind);
        }
        if let Some((kind, end)) = ended_work(change, outcome) {
            metrics.count_end(kind, end);
        }
    }
}

fn started_work(change: &Change, outcome: &Outcome) -> Option<WorkKind> {
    match (outcome, change) {
        (Outcome::Started { again: false, .. }, _) => Some(WorkKind::Answer),
        // It was started by the process that it is taken from.
        (
            _,
            Change::Job {
                change: JobChange::Recover { .. },
                ..
            },
        ) => None,
        (Outcome::JobTaken { again: false, .. }, _) => Some(WorkKind::Job),
        _ => None,
    }
}

fn ended_work(change: &Change, outcome: &Outcome) -> Option<(WorkKind, WorkEnd)> {
    match change {
        Change::Output { output, .. } => {
            let status = match output {
                RunOutput::EndRun { message, .. } | RunOutput::HandOverRun { message, .. } => message.status,
                RunOutput::PauseRun { .. } => RunStatus::Waiting,
                RunOutput::AbandonRun { status, .. } => *status,
                _ => return None,
            };
            Some((WorkKind::Answer, WorkEnd::Status(status)))
        }
        // The run of a conversation that can be restored is stopped, and ends by itself.
        Change::Conversation { change, .. } if !matches!(change, ConversationChange::Trash { .. }) => {
            let has_run = matches!(outcome, Outcome::Deleted { active_run: Some(_) });
            has_run.then_some((WorkKind::Answer, WorkEnd::Deleted))
        }
        Change::Job { change, .. } => {
            let status = match change {
                JobChange::Stop { .. } => RunStatus::Stopped,
                JobChange::Output {
                    output: JobOutput::End { status, .. },
                    ..
                } => *status,
                JobChange::Output {
                    output: JobOutput::Pause { .. },
                    ..
                } => RunStatus::Waiting,
                _ => return None,
            };
            Some((WorkKind::Job, WorkEnd::Status(status)))
        }
        _ => None,
    }
}
