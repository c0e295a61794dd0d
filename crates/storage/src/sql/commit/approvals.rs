//! Paused runs: they become inactive while they wait for the user's answer, and resume from the stored state.

use crate::sql::database::{Connection, query};

use super::{Batch, ChangeError, list_place::require_not_trashed, run_output::update_message};
use crate::{
    ApprovalDecision, ChangeRejection, Outcome, RunKey,
    nodes::LeftAnswer,
    sql::{messages, optional_text},
};
use parlor_protocol::{
    AssistantMessage, ConversationId, Position, RunEvent, RunStatus, ToolStatus, UserId,
    intent::{ApprovalAnswer, StartedRun},
    transcript::apply_to_run,
};

impl Batch<'_> {
    /// Pauses a run.
    pub(super) async fn pause_run(
        &mut self,
        connection: &mut Connection,
        run: &RunKey,
        events: &[RunEvent],
        message: &AssistantMessage,
    ) -> Result<Outcome, ChangeError> {
        let last = self.append_events(&mut *connection, run, events).await?;
        let paused = query(
            "UPDATE runs SET status = 'waiting', stored_position = $1 WHERE user_id = $2 AND id = $3 AND status = 'running'",
        )
        .bind_value(last)
        .bind_value(run.user_id)
        .bind_value(run.message_id)
        .execute(&mut *connection)
        .await?;
        if paused.rows_affected() == 0 {
            Err(ChangeRejection::NotFound)?;
        }
        query("UPDATE conversations SET unseen = 1 WHERE user_id = $1 AND id = $2")
            .bind_value(run.user_id)
            .bind_value(run.conversation_id)
            .execute(&mut *connection)
            .await?;
        update_message(connection, run.user_id, run.message_id, message).await?;
        Ok(Outcome::Done)
    }

    /// Stores the user's answer and resumes the run. An earlier answer is kept.
    pub(super) async fn answer_approval(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        approval: ApprovalDecision,
    ) -> Result<Outcome, ChangeError> {
        let ApprovalDecision {
            run: id,
            index,
            answer,
        } = approval;
        let allowed = answer.is_allowed();
        let Some((conversation_id, mut message)) = messages::message(&mut *connection, user_id, id).await?
        else {
            Err(ChangeRejection::NotFound)?
        };
        require_not_trashed(&mut *connection, (user_id, conversation_id)).await?;
        let parent_id = message.parent_id;
        let (Some(assistant), Some(user_message_id)) = (message.assistant_mut(), parent_id) else {
            Err(ChangeRejection::NotFound)?
        };
        let call = assistant
            .tool_calls()
            .find(|call| call.index == index)
            .ok_or(ChangeRejection::NotFound)?;
        match (assistant.status, call.status) {
            (RunStatus::Waiting, ToolStatus::Waiting) => {}
            // The run is active: its driver handles the answer.
            (RunStatus::Running, ToolStatus::Waiting) => Err(ChangeRejection::RunActive)?,
            _ => return Ok(Outcome::Done),
        }
        let always = (answer == ApprovalAnswer::Always).then(|| call.tool.clone());
        let event = RunEvent::ApprovalAnswered {
            index,
            tool_use_id: call.tool_use_id.clone(),
            allowed,
        };
        apply_to_run(assistant, &event);
        let run = RunKey {
            user_id,
            conversation_id,
            message_id: id,
        };
        let position = self.append_events(&mut *connection, &run, &[event]).await?;
        self.resume_run(&mut *connection, run, position).await?;
        if let Some(tool) = always {
            self.allow_tool(&mut *connection, user_id, conversation_id, &tool)
                .await?;
        }
        update_message(connection, user_id, id, assistant).await?;
        Ok(Outcome::Started {
            started: StartedRun {
                conversation_id,
                user_message_id,
                assistant_message_id: id,
            },
            again: false,
        })
    }

    /// Stores the user's answer for the node that drives the run.
    pub(super) async fn leave_answer(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        approval: ApprovalDecision,
    ) -> Result<Outcome, ChangeError> {
        let ApprovalDecision { run, index, answer } = approval;
        let row = query(
            "SELECT answers FROM runs WHERE user_id = $1 AND id = $2 AND status = 'running' AND owner <> $3",
        )
        .bind_value(user_id)
        .bind_value(run)
        .bind_value(self.owner)
        .fetch_optional(&mut *connection)
        .await?;
        let row = row.ok_or(ChangeRejection::RunActive)?;
        let mut answers = match optional_text(&row, "answers")? {
            Some(stored) => serde_json::from_str::<Vec<LeftAnswer>>(&stored).unwrap_or_default(),
            None => Vec::new(),
        };
        // The first answer counts.
        if answers.iter().all(|(answered, _)| *answered != index) {
            answers.push((index, answer));
        }
        query("UPDATE runs SET answers = $3 WHERE user_id = $1 AND id = $2")
            .bind_value(user_id)
            .bind_value(run)
            .bind(serde_json::to_string(&answers)?)
            .execute(connection)
            .await?;
        Ok(Outcome::Done)
    }

    /// Deletes answers that were applied, unless others came since.
    pub(super) async fn forget_answers(
        &mut self,
        connection: &mut Connection,
        run: RunKey,
        stored: &str,
    ) -> Result<Outcome, ChangeError> {
        query("UPDATE runs SET answers = NULL WHERE user_id = $1 AND id = $2 AND answers = $3")
            .bind_value(run.user_id)
            .bind_value(run.message_id)
            .bind(stored)
            .execute(connection)
            .await?;
        Ok(Outcome::Done)
    }

    /// Allows a tool for the rest of a conversation. Allowing it twice has no further effect.
    pub(super) async fn allow_tool(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        conversation_id: ConversationId,
        tool: &str,
    ) -> Result<Outcome, ChangeError> {
        query(
            "INSERT INTO allowed_tools (user_id, conversation_id, tool) \
             SELECT user_id, id, $1 FROM conversations \
             WHERE user_id = $2 AND id = $3 AND trashed_at IS NULL ON CONFLICT DO NOTHING",
        )
        .bind(tool)
        .bind_value(user_id)
        .bind_value(conversation_id)
        .execute(connection)
        .await?;
        Ok(Outcome::Done)
    }

    /// Marks a run as active again, from the current position of the log.
    async fn resume_run(
        &mut self,
        connection: &mut Connection,
        run: RunKey,
        position: Position,
    ) -> Result<(), ChangeError> {
        self.require_place(&mut *connection, run).await?;
        query(
            "UPDATE runs SET status = 'running', first_position = $1, stored_position = $1 WHERE user_id = $2 AND id = $3",
        )
        .bind_value(position)
        .bind_value(run.user_id)
        .bind_value(run.message_id)
        .execute(&mut *connection)
        .await?;
        self.take_run(connection, run).await?;
        Ok(())
    }
}
