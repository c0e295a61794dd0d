//! A user's answer to a run that waits for the approval of a tool call.

use std::time::Duration;

use tokio::time::sleep;

use super::{Runs, StartError, journal_error};
use parlor_journal::JournalError;
use parlor_protocol::UserId;
use parlor_storage::{ApprovalDecision, Change, ChangeRejection, RunChange, RunKey};

/// The wait before an answer is given again to a run that has just changed its node.
const ANSWER_RETRY_DELAY: Duration = Duration::from_millis(20);

impl Runs {
    /// Answers whether a tool call of a user's run may begin, and resumes the run. The first answer
    /// counts: a call that was answered before, or a run that has ended meanwhile, stays as it was.
    ///
    /// # Errors
    ///
    /// If there is no such call, or if storage fails. The run then still waits for the answer.
    pub async fn answer_approval(
        &self,
        user_id: UserId,
        approval: ApprovalDecision,
    ) -> Result<(), StartError> {
        let ApprovalDecision { run, index, answer } = approval;
        let message = self
            .0
            .storage
            .message(user_id, run)
            .await
            .map_err(journal_error)?;
        let not_found = || JournalError::Rejected(ChangeRejection::NotFound);
        let (conversation_id, message) = message.ok_or_else(not_found)?;
        let mut calls = message
            .assistant()
            .into_iter()
            .flat_map(|answer| answer.tool_calls());
        calls.find(|call| call.index == index).ok_or_else(not_found)?;
        let key = RunKey {
            user_id,
            conversation_id,
            message_id: run,
        };
        loop {
            self.check_open()?;
            // A run that is active because of its other calls takes the answer itself.
            if self.0.active.deliver_approval(user_id, run, index, answer).await {
                return Ok(());
            }
            match self
                .start_run(key, Change::Run(RunChange::AnswerApproval { user_id, approval }))
                .await
            {
                // The run has become active again between the two steps.
                Err(StartError::Journal(JournalError::Rejected(ChangeRejection::RunActive))) => {
                    if self.0.storage.has_nodes() && !self.0.active.has_begun(run) {
                        if self.leave_answer(key, approval).await? {
                            return Ok(());
                        }
                        // It is about to pause, or to start here.
                        sleep(ANSWER_RETRY_DELAY).await;
                    }
                    tokio::task::yield_now().await;
                }
                answered => return answered.map(|_| ()),
            }
        }
    }
}
