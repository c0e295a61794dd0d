//! Runs that go on by themselves after a crash or restart of the server, where that is safe: nothing may happen twice.

use super::{Inner, Runs, StartError};
use parlor_journal::JournalError;
use parlor_protocol::{AssistantMessage, RunStatus, ToolCall};
use parlor_storage::{Change, ChangeRejection, RunChange, RunKey};

impl Inner {
    /// Returns true if a run with this answer goes on by itself. Otherwise it waits for the user: a call was active that may
    /// have had an effect, or the run has gone on too often.
    pub(super) fn goes_on_by_itself(&self, answer: &AssistantMessage) -> bool {
        let resumptions = usize::try_from(answer.resumptions).unwrap_or(usize::MAX);
        answer.status == RunStatus::Running
            && !answer.is_damaged()
            && resumptions < self.agent.max_resumptions
            && answer.tool_calls().all(|call| self.may_repeat(call))
    }

    /// Returns true if a call has ended, has not begun, or may be repeated. A tool whose server is not connected yet is unknown.
    fn may_repeat(&self, call: &ToolCall) -> bool {
        let is_open = call.started_at.is_some() && call.output.is_none();
        !is_open
            || self
                .tools
                .find(&call.tool)
                .is_some_and(|tool| tool.is_idempotent())
    }
}

impl Runs {
    /// Lets a run go on that an earlier process left running.
    ///
    /// # Errors
    ///
    /// If it could not.
    pub(super) async fn resume(&self, run: RunKey) -> Result<(), StartError> {
        let resumed = self.start_run(run, Change::Run(RunChange::Resume { run })).await;
        if let Err(error) = &resumed
            && !matches!(
                error,
                StartError::Journal(JournalError::Rejected(ChangeRejection::FenceLost))
            )
        {
            tracing::warn!(%error, run = %run.message_id, "an interrupted answer can't go on by itself");
        }
        resumed.map(drop)
    }
}
