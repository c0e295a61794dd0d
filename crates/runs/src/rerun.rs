//! Runs for a question that was asked before: another answer, or the rest of one.

use super::{Runs, StartError, journal_error, start::into_started};
use parlor_protocol::{
    UserId,
    intent::{ContinueRun, Regenerate, StartedRun},
};
use parlor_storage::{Change, IntentChange, RunKey};

impl Runs {
    /// Starts a run that answers a message's question again.
    pub async fn regenerate(
        &self,
        user_id: UserId,
        intent: Regenerate,
        fingerprint: String,
    ) -> Result<StartedRun, StartError> {
        let intent_id = intent.intent_id;
        match self.regenerate_new(user_id, intent, fingerprint.clone()).await {
            Err(error @ (StartError::UnknownModel(_) | StartError::Refused(_))) => {
                self.find_previous(user_id, intent_id, &fingerprint, error).await
            }
            started => started,
        }
    }

    async fn regenerate_new(
        &self,
        user_id: UserId,
        mut intent: Regenerate,
        fingerprint: String,
    ) -> Result<StartedRun, StartError> {
        intent.model = self.find_named_model(user_id, intent.model.as_deref()).await?;
        let conversation_id = intent.conversation_id;
        let (start, model) = self
            .prepare_start(
                user_id,
                conversation_id,
                (intent.model.as_deref(), None),
                fingerprint,
            )
            .await?;
        let run = RunKey {
            user_id,
            conversation_id,
            message_id: start.run,
        };
        self.0.models.of_user(user_id).prefetch_context_window(&model);
        let change = Change::Intent {
            user_id,
            change: IntentChange::Regenerate { intent, start },
        };
        into_started(self.start_run(run, change).await?)
    }

    /// Continues an unfinished answer.
    pub async fn continue_run(
        &self,
        user_id: UserId,
        intent: ContinueRun,
        fingerprint: String,
    ) -> Result<StartedRun, StartError> {
        let intent_id = intent.intent_id;
        match self.continue_new(user_id, intent, fingerprint.clone()).await {
            Err(error @ StartError::Refused(_)) => {
                self.find_previous(user_id, intent_id, &fingerprint, error).await
            }
            started => started,
        }
    }

    async fn continue_new(
        &self,
        user_id: UserId,
        intent: ContinueRun,
        fingerprint: String,
    ) -> Result<StartedRun, StartError> {
        self.check_open()?;
        let message = self.0.storage.message(user_id, intent.message_id).await;
        if let Some((_, message)) = message.map_err(journal_error)?
            && let Some(answer) = message.assistant()
        {
            self.check_call(user_id, &answer.model).await?;
        }
        let run = RunKey {
            user_id,
            conversation_id: intent.conversation_id,
            message_id: intent.message_id,
        };
        let change = Change::Intent {
            user_id,
            change: IntentChange::ContinueRun { intent, fingerprint },
        };
        into_started(self.start_run(run, change).await?)
    }
}
