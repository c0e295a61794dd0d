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
    // The process that started a recovered job has counted it.
    let is_recovered = matches!(
        change,
        Change::Job {
            change: JobChange::Recover { .. },
            ..
        }
    );
    match outcome {
        Outcome::Started { again, .. } => (!again).then_some(WorkKind::Answer),
        Outcome::JobTaken { again, .. } => (!again && !is_recovered).then_some(WorkKind::Job),
        Outcome::Done
        | Outcome::Unchanged
        | Outcome::Deleted { .. }
        | Outcome::DataDeleted
        | Outcome::NoteConflict
        | Outcome::Queued(_) => None,
    }
}

fn ended_work(change: &Change, outcome: &Outcome) -> Option<(WorkKind, WorkEnd)> {
    match change {
        Change::Output { output, .. } => {
            answer_end(output).map(|status| (WorkKind::Answer, WorkEnd::Status(status)))
        }
        // The run of a conversation that can be restored is stopped, and ends by itself.
        Change::Conversation {
            change: ConversationChange::Trash { .. },
            ..
        } => None,
        Change::Conversation { .. } => {
            let has_run = matches!(outcome, Outcome::Deleted { active_run: Some(_) });
            has_run.then_some((WorkKind::Answer, WorkEnd::Deleted))
        }
        Change::Job { change, .. } => job_end(change).map(|status| (WorkKind::Job, WorkEnd::Status(status))),
        Change::Intent { .. }
        | Change::Run(_)
        | Change::File(_)
        | Change::Library { .. }
        | Change::Personal { .. }
        | Change::Project { .. }
        | Change::Schedule { .. }
        | Change::Column { .. }
        | Change::Share(_)
        | Change::Account(_)
        | Change::Endpoint { .. } => None,
    }
}

/// Returns the status in which output leaves its run, if no task works on the run afterwards.
fn answer_end(output: &RunOutput) -> Option<RunStatus> {
    match output {
        RunOutput::EndRun { message, .. } | RunOutput::HandOverRun { message, .. } => Some(message.status),
        RunOutput::PauseRun { .. } => Some(RunStatus::Waiting),
        RunOutput::AbandonRun { status, .. } => Some(*status),
        RunOutput::AppendEvents { .. }
        | RunOutput::StoreMessage { .. }
        | RunOutput::StorePayload { .. }
        | RunOutput::StoreProviderData { .. }
        | RunOutput::RecordCall { .. }
        | RunOutput::StoreAttachment { .. }
        | RunOutput::TitleConversation { .. }
        | RunOutput::CountCutCall { .. }
        | RunOutput::StoreSummary { .. } => None,
    }
}

/// Returns the status in which a change leaves its job, if no task works on the job afterwards.
fn job_end(change: &JobChange) -> Option<RunStatus> {
    match change {
        JobChange::Stop { .. } => Some(RunStatus::Stopped),
        JobChange::Output { output, .. } => match output {
            JobOutput::End { status, .. } => Some(*status),
            JobOutput::Pause { .. } => Some(RunStatus::Waiting),
            JobOutput::StartStep { .. }
            | JobOutput::FinishStep { .. }
            | JobOutput::CountCalls { .. }
            | JobOutput::RecordCall { .. } => None,
        },
        JobChange::Start { .. }
        | JobChange::Continue { .. }
        | JobChange::Recover { .. }
        | JobChange::MarkSeen { .. }
        | JobChange::Delete { .. } => None,
    }
}
