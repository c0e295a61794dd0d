//! Continuing a run that was cut off, by a person or by itself.

use crate::sql::database::{Connection, query, query_scalar};

use super::{
    super::{daily_usage::skip_usage, messages},
    Batch, ChangeError,
    deletion::require_shown,
    list_place::require_not_trashed,
    run_output::update_message,
    turns::conflict_as_rejection,
};
use crate::{ChangeRejection, Outcome, RunKey};
use parlor_protocol::{
    RunEvent, RunStatus, UserId,
    intent::{ContinueRun, StartedRun},
    transcript::apply_to_run,
};

/// Continues a run that was cut off.
const CONTINUE_RUN: &str = "UPDATE runs SET status = 'running', first_position = $5, last_position = NULL WHERE user_id = $1 AND id = $3; \
     UPDATE conversations SET active_leaf = $3, updated_at = $4, activity = $5, unseen = 0 WHERE user_id = $1 AND id = $2";

impl Batch<'_> {
    /// Lets a run go on that an earlier process left running, with the content of its message.
    pub(super) async fn resume_abandoned_run(
        &mut self,
        connection: &mut Connection,
        run: RunKey,
    ) -> Result<Outcome, ChangeError> {
        let found = messages::message(connection, run.user_id, run.message_id).await?;
        let Some((conversation_id, mut message)) = found else {
            Err(ChangeRejection::NotFound)?
        };
        let parent_id = message.parent_id;
        let (Some(assistant), Some(user_message_id)) = (message.assistant_mut(), parent_id) else {
            Err(ChangeRejection::NotFound)?
        };
        if conversation_id != run.conversation_id || assistant.status != RunStatus::Running {
            Err(ChangeRejection::NotFound)?;
        }
        require_not_trashed(&mut *connection, (run.user_id, conversation_id)).await?;
        self.require_abandoned(&mut *connection, run).await?;
        let event = RunEvent::RunResumed { resumed_at: self.at };
        apply_to_run(assistant, &event);
        self.append_events(&mut *connection, &run, &[event]).await?;
        self.store_message(&mut *connection, &run, assistant).await?;
        self.take_run(connection, run).await?;
        Ok(Outcome::Started {
            started: StartedRun {
                conversation_id,
                user_message_id,
                assistant_message_id: run.message_id,
            },
            again: false,
        })
    }

    /// Continues a run: it starts again at the current position of the log, with the content of its message.
    pub(super) async fn continue_run(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        intent: &ContinueRun,
    ) -> Result<StartedRun, ChangeError> {
        let ContinueRun {
            conversation_id,
            message_id,
            ..
        } = *intent;
        let Some((found_in, mut message)) = messages::message(connection, user_id, message_id).await? else {
            Err(ChangeRejection::NotFound)?
        };
        let parent_id = message.parent_id;
        let (Some(assistant), Some(user_message_id)) = (message.assistant_mut(), parent_id) else {
            Err(ChangeRejection::NotFound)?
        };
        if found_in != conversation_id {
            Err(ChangeRejection::NotFound)?;
        }
        require_shown(&mut *connection, (user_id, conversation_id), message_id).await?;
        self.leave_archive(&mut *connection, (user_id, conversation_id))
            .await?;
        match assistant.status {
            RunStatus::Running | RunStatus::Waiting => Err(ChangeRejection::RunActive)?,
            RunStatus::Complete if !assistant.is_cut_short() => Err(ChangeRejection::NotContinuable)?,
            // The unreadable content is kept: continuing would overwrite it.
            _ if assistant.is_damaged() && assistant.is_empty() => Err(ChangeRejection::NotContinuable)?,
            RunStatus::Complete | RunStatus::Stopped | RunStatus::Failed | RunStatus::Interrupted => {}
        }
        let followers: i64 = query_scalar(
            "SELECT count(*) FROM messages WHERE user_id = $1 AND parent_id = $2 \
                 AND id NOT IN (SELECT message_id FROM hidden_messages WHERE user_id = $1)",
        )
        .bind_value(user_id)
        .bind_value(message_id)
        .fetch_one(&mut *connection)
        .await?;
        if followers > 0 {
            Err(ChangeRejection::NotContinuable)?;
        }
        let run = RunKey {
            user_id,
            conversation_id,
            message_id,
        };
        self.require_place(&mut *connection, run).await?;
        if let Some(usage) = &assistant.usage {
            // Of a copy, or of an answer that is older than the counting: it is not of this day.
            skip_usage(&mut *connection, &run, &usage.totals).await?;
        }
        let event = RunEvent::RunContinued { created_at: self.at };
        apply_to_run(assistant, &event);
        update_message(connection, user_id, message_id, assistant).await?;
        let position = self
            .log_event(connection, user_id, conversation_id, Some(message_id), event)
            .await?;
        query(CONTINUE_RUN)
            .bind_value(user_id)
            .bind_value(conversation_id)
            .bind_value(message_id)
            .bind_value(self.at)
            .bind_value(position)
            .execute(&mut *connection)
            .await
            .map_err(|error| conflict_as_rejection(error, ChangeRejection::RunActive))?;
        self.take_run(connection, run).await?;
        Ok(StartedRun {
            conversation_id,
            user_message_id,
            assistant_message_id: message_id,
        })
    }
}
