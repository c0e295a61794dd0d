//! The output of runs: their messages while they are active and when they end.

use crate::sql::database::{Connection, query};

use super::{
    super::{daily_usage::count_usage, json},
    Batch, ChangeError,
    artifacts::delete_unshown,
    queue_state::{is_held, is_queue_empty},
};
use crate::{ChangeRejection, Outcome, RunKey, StorageError, damage::skip_damaged};
use parlor_base::crash_point;
use parlor_protocol::{AssistantMessage, MessageBody, MessageId, Position, RunEvent, RunStatus, UserId};

impl Batch<'_> {
    /// Appends the output of a run to its user's log and returns the last position.
    pub(super) async fn append_events(
        &mut self,
        connection: &mut Connection,
        run: &RunKey,
        events: &[RunEvent],
    ) -> Result<Position, StorageError> {
        let (message, mut last) = (Some(run.message_id), Position(0));
        for event in events {
            if let RunEvent::Usage(usage) = event {
                self.ensure_begun(&mut *connection).await?;
                count_usage(&mut *connection, run, &usage.totals, self.at).await?;
            }
            last = self
                .log_event(
                    connection,
                    run.user_id,
                    run.conversation_id,
                    message,
                    event.clone(),
                )
                .await?;
        }
        Ok(last)
    }

    /// Stores the message of a run so far. The log keeps the events for clients that follow it.
    pub(super) async fn store_message(
        &mut self,
        connection: &mut Connection,
        run: &RunKey,
        message: &AssistantMessage,
    ) -> Result<Outcome, ChangeError> {
        let position = self.last_position(&mut *connection, run.user_id).await?;
        let stored = query(
            "UPDATE runs SET stored_position = $1 WHERE user_id = $2 AND id = $3 AND status IN ('running', 'waiting')",
        )
        .bind_value(position)
        .bind_value(run.user_id)
        .bind_value(run.message_id)
        .execute(&mut *connection)
        .await?;
        if stored.rows_affected() == 0 {
            Err(ChangeRejection::NotFound)?;
        }
        update_message(connection, run.user_id, run.message_id, message).await?;
        Ok(Outcome::Done)
    }

    /// Ends a run for the messages that wait for it.
    pub(super) async fn hand_over_run(
        &mut self,
        connection: &mut Connection,
        run: &RunKey,
        events: &[RunEvent],
        message: &AssistantMessage,
    ) -> Result<Outcome, ChangeError> {
        let key = (run.user_id, run.conversation_id);
        if is_queue_empty(&mut *connection, key).await? || is_held(&mut *connection, key).await? {
            Err(ChangeRejection::NotFound)?;
        }
        self.end_run(connection, run, events, message).await
    }

    pub(super) async fn end_run(
        &mut self,
        connection: &mut Connection,
        run: &RunKey,
        events: &[RunEvent],
        message: &AssistantMessage,
    ) -> Result<Outcome, ChangeError> {
        let last = self.append_events(&mut *connection, run, events).await?;
        let ended = query(
            "UPDATE runs SET status = $1, last_position = $2 \
             WHERE user_id = $3 AND id = $4 AND status IN ('running', 'waiting')",
        )
        .bind_value(message.status)
        .bind_value(last)
        .bind_value(run.user_id)
        .bind_value(run.message_id)
        .execute(&mut *connection)
        .await?;
        if ended.rows_affected() == 0 {
            Err(ChangeRejection::NotFound)?;
        }
        crash_point!("end::status");
        store_final_message(&mut *connection, run, message).await?;
        crash_point!("end::message");
        // The artifacts shown by a damaged answer are unknown.
        if !message.is_damaged() && delete_unshown(&mut *connection, run, message).await? {
            self.has_deleted = true;
            self.delete_lost_columns(&mut *connection, Some(run.user_id))
                .await?;
        }
        query("UPDATE conversations SET unseen = $1 WHERE user_id = $2 AND id = $3")
            .bind(events.iter().any(RunEvent::is_notifiable_end))
            .bind_value(run.user_id)
            .bind_value(run.conversation_id)
            .execute(&mut *connection)
            .await?;
        crash_point!("end::conversation");
        if message.status != RunStatus::Complete {
            self.hold_queue(connection, run, true).await?;
        }
        Ok(Outcome::Done)
    }
}

/// Ends a run whose row may be damaged. An update checks the types of all columns, so all are set.
const ABANDON_RUN: &str = "UPDATE runs SET status = $3, \
         last_position = coalesce($4, CAST(coalesce(first_position, 0) AS BIGINT) - 1), \
         first_position = CAST(coalesce(first_position, 0) AS BIGINT), \
         stored_position = CAST(coalesce(stored_position, 0) AS BIGINT), force_tools = CAST(force_tools AS TEXT), \
         counted_input = CAST(coalesce(counted_input, 0) AS BIGINT), counted_output = CAST(coalesce(counted_output, 0) AS BIGINT), \
         counted_cost = CAST(coalesce(counted_cost, 0) AS BIGINT), \
         owner = CAST(owner AS TEXT), answers = NULL \
     WHERE user_id = $1 AND id = $2 AND status IN ('running', 'waiting')";

impl Batch<'_> {
    /// Ends a run that could not be ended normally. Without events, nothing of the log is read or written and
    /// no event marks the run's end: its last position is set before its first, so that no client waits for
    /// more events.
    pub(super) async fn abandon_run(
        &mut self,
        connection: &mut Connection,
        run: &RunKey,
        events: &[RunEvent],
        status: RunStatus,
        message: Option<&AssistantMessage>,
    ) -> Result<Outcome, ChangeError> {
        let last = match events {
            [] => None,
            events => Some(self.append_events(&mut *connection, run, events).await?),
        };
        let ended = query(ABANDON_RUN)
            .bind_value(run.user_id)
            .bind_value(run.message_id)
            .bind_value(status)
            .bind_value(last)
            .execute(&mut *connection)
            .await?;
        if ended.rows_affected() == 0 {
            Err(ChangeRejection::NotFound)?;
        }
        if let Some(message) = message {
            store_final_message(&mut *connection, run, message).await?;
        }
        // A damaged queue must not keep the conversation locked.
        if let Err(error) = self.hold_queue(connection, run, !events.is_empty()).await {
            tracing::error!(?error, "the queue of an abandoned run is not held");
        }
        Ok(Outcome::Done)
    }
}

/// Stores the final message of a run, unless the stored message is damaged and may contain more.
async fn store_final_message(
    connection: &mut Connection,
    run: &RunKey,
    message: &AssistantMessage,
) -> Result<(), ChangeError> {
    if !message.is_damaged() || is_message_readable(&mut *connection, run).await? {
        update_message(connection, run.user_id, run.message_id, message).await?;
    }
    Ok(())
}

/// Returns true if the stored message is readable. An unreadable one is kept unchanged: a later version may
/// be able to read it.
async fn is_message_readable(connection: &mut Connection, run: &RunKey) -> Result<bool, StorageError> {
    let row = query("SELECT body FROM messages WHERE user_id = $1 AND id = $2")
        .bind_value(run.user_id)
        .bind_value(run.message_id)
        .fetch_one(connection)
        .await?;
    let body = json::<MessageBody>(&row, "body");
    Ok(skip_damaged("messages", run.message_id, body)?.is_some())
}

pub(super) async fn update_message(
    connection: &mut Connection,
    user_id: UserId,
    id: MessageId,
    answer: &AssistantMessage,
) -> Result<(), ChangeError> {
    update_body(connection, user_id, id, &MessageBody::Assistant(answer.clone())).await
}

pub(super) async fn update_body(
    connection: &mut Connection,
    user_id: UserId,
    id: MessageId,
    body: &MessageBody,
) -> Result<(), ChangeError> {
    query("UPDATE messages SET body = $1 WHERE user_id = $2 AND id = $3")
        .bind(serde_json::to_string(body)?)
        .bind_value(user_id)
        .bind_value(id)
        .execute(connection)
        .await?;
    Ok(())
}
