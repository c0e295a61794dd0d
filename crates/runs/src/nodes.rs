//! The runs of this process among those of other nodes (`docs/nodes.md`). The database decides whose a run is, and refuses output of
//! others; here the work on runs that are lost is ended.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use tokio::time::timeout;

use super::{Runs, StartError, journal_error};
use parlor_journal::JournalError;
use parlor_storage::{
    ApprovalDecision, Change, ChangeRejection, RunChange, RunKey, StorageError, nodes::AnsweredRun,
};

/// The time between two looks for runs that began while all are dropped.
const DROP_INTERVAL: Duration = Duration::from_millis(50);

impl Runs {
    /// Ends the work on runs that other nodes have taken or ended.
    ///
    /// # Errors
    ///
    /// If the database can't be read.
    pub async fn drop_lost_runs(&self) -> Result<(), StorageError> {
        let begun = self.0.active.begun();
        for run in self.0.storage.lost_runs(&begun).await? {
            tracing::info!(%run, "another node has taken an answer, or ended it");
            self.0.active.lose(run);
        }
        Ok(())
    }

    /// Ends the work on all runs, since this node has lost its lease, and waits until that is done.
    pub async fn drop_all(&self) {
        while let Some(run) = self.0.active.any_active() {
            for run in self.0.active.begun() {
                self.0.active.lose(run);
            }
            // One that began meanwhile is lost at the next look.
            let _ = timeout(DROP_INTERVAL, self.0.active.wait_until_ended(run)).await;
        }
    }

    /// Returns true if no further run is started, since the server stops.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed.load(Relaxed)
    }

    /// Applies the answers to approvals that other nodes have stored for the runs of this one.
    ///
    /// # Errors
    ///
    /// If the database can't be read.
    pub async fn apply_left_answers(&self) -> Result<(), StorageError> {
        for answered in self.0.storage.answered_runs().await? {
            let runs = self.clone();
            // The commit of an answer is waited for. A second one of the same call has no effect.
            tokio::spawn(async move { runs.apply_answers(answered).await });
        }
        Ok(())
    }

    async fn apply_answers(&self, answered: AnsweredRun) {
        let AnsweredRun { run, answers, stored } = answered;
        for (index, answer) in answers {
            let approval = ApprovalDecision {
                run: run.message_id,
                index,
                answer,
            };
            if let Err(error) = self.answer_approval(run.user_id, approval).await {
                tracing::warn!(%error, run = %run.message_id, "an answer of another node could not be applied");
                if !matches!(error, StartError::Journal(JournalError::Rejected(_))) {
                    // The next look tries again.
                    return;
                }
            }
        }
        let forget = Change::Run(RunChange::ForgetAnswers { run, stored });
        if let Err(error) = self.0.journal.submit(forget).await {
            tracing::debug!(%error, "applied answers stay stored until the next look");
        }
    }

    /// Leaves a user's answer for the node that drives the run. Returns false if none does.
    pub(super) async fn leave_answer(
        &self,
        run: RunKey,
        approval: ApprovalDecision,
    ) -> Result<bool, StartError> {
        let leave = RunChange::LeaveAnswer {
            user_id: run.user_id,
            approval,
        };
        match self.0.journal.submit(Change::Run(leave)).await {
            Ok(_) => Ok(true),
            Err(JournalError::Rejected(ChangeRejection::RunActive)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends the work of this process on a run that another node has taken meanwhile, before it is started here again: output of
    /// the former driver must not mix with that of the next one.
    ///
    /// # Errors
    ///
    /// If the run is active here, or if the database can't be read.
    pub(super) async fn leave_lost_run(&self, run: RunKey) -> Result<(), StartError> {
        while self.0.storage.has_nodes() && self.0.active.has_begun(run.message_id) {
            let is_own = self.0.storage.is_own_active_run(run.message_id).await;
            if is_own.map_err(journal_error)? {
                return Err(JournalError::Rejected(ChangeRejection::RunActive).into());
            }
            self.0.active.lose(run.message_id);
            self.0.active.wait_until_ended(run.message_id).await;
        }
        Ok(())
    }
}
