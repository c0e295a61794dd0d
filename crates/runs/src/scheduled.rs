//! The start of runs by schedules. It differs from a message of the user in what is committed with it.

use super::{Runs, StartError, start::into_started};
use parlor_base::crash_point;
use parlor_journal::JournalError;
use parlor_protocol::{
    UserId,
    intent::{SendMessage, StartedRun},
};
use parlor_storage::{Change, IntentChange, RunKey, StorageErrorKind, schedules::Firing};

impl Runs {
    /// Sends the message of a schedule, and starts the run that answers it. The step of the schedule to its next planned time is
    /// committed with it. The same intent again returns the same run.
    ///
    /// # Errors
    ///
    /// As for a message of the user; `NotFound` if the schedule was changed meanwhile, or if the planned time has started a run.
    pub async fn send_scheduled(
        &self,
        user_id: UserId,
        intent: SendMessage,
        firing: Firing,
        fingerprint: String,
    ) -> Result<StartedRun, StartError> {
        let runs = self.clone();
        // In a task of its own: the caller may go away at any moment.
        let sending = tokio::spawn(async move {
            let intent_id = intent.intent_id;
            match runs
                .send_scheduled_new(user_id, intent, firing, &fingerprint)
                .await
            {
                Err(error @ (StartError::UnknownModel(_) | StartError::Refused(_))) => {
                    runs.find_previous(user_id, intent_id, &fingerprint, error).await
                }
                started => started,
            }
        });
        let broke = JournalError::Unavailable(StorageErrorKind::Other);
        sending.await.map_err(|_| broke)?
    }

    async fn send_scheduled_new(
        &self,
        user_id: UserId,
        mut intent: SendMessage,
        firing: Firing,
        fingerprint: &str,
    ) -> Result<StartedRun, StartError> {
        self.check_text(&intent.text, false)?;
        let (start, model) = self.prepare_send(user_id, &mut intent, fingerprint).await?;
        let run = RunKey {
            user_id,
            conversation_id: intent.conversation_id,
            message_id: start.run,
        };
        self.0.models.of_user(user_id).prefetch_context_window(&model);
        crash_point!("schedule::firing");
        let change = Change::Intent {
            user_id,
            change: IntentChange::RunSchedule {
                intent,
                start,
                firing,
            },
        };
        let started = into_started(self.start_run(run, change).await?);
        crash_point!("schedule::fired");
        started
    }
}
