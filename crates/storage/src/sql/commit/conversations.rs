//! Changes to a conversation as a whole: one of its columns, or its deletion.

use crate::sql::database::{Connection, query};

use super::{
    super::{daily_usage::count_usage, id, messages, queries::lost_conversation},
    Batch, ChangeError, EMPTY_EVENTS,
    deletion::require_shown,
    erase_event,
    run_output::update_message,
};
use crate::{ChangeRejection, Outcome, RunKey, damage::skip_damaged};
use parlor_protocol::{
    ConversationEvent, ConversationId, MessageId, RunEvent, TokenTotals, Usage, UserId,
    transcript::apply_to_run,
};

/// The newest descendant of a message, or the message itself: the end of its newest branch. A message is
/// always created before its descendants, so the newest has none, and no damaged link makes a circle.
pub(crate) const NEWEST_DESCENDANT: &str = "WITH RECURSIVE below (id, position) AS ( \
         SELECT id, position FROM messages WHERE user_id = $1 AND conversation_id = $2 AND id = $3 \
             AND id NOT IN (SELECT message_id FROM hidden_messages WHERE conversation_id = $2) \
         UNION ALL \
         SELECT m.id, m.position FROM below b JOIN messages m ON m.user_id = $1 AND m.parent_id = b.id AND m.position > b.position \
             AND m.id NOT IN (SELECT message_id FROM hidden_messages WHERE conversation_id = $2)) \
     SELECT id FROM below ORDER BY position DESC LIMIT 1";

impl Batch<'_> {
    /// Sets one column of a conversation to `value` and logs the event, if the conversation is the user's.
    pub(super) async fn update_conversation(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        conversation_id: ConversationId,
        sql: &'static str,
        value: &str,
        event: ConversationEvent,
    ) -> Result<Outcome, ChangeError> {
        let updated = query(sql)
            .bind_value(user_id)
            .bind_value(conversation_id)
            .bind(value)
            .execute(&mut *connection)
            .await?;
        if updated.rows_affected() == 0 {
            Err(ChangeRejection::NotFound)?;
        }
        self.log_event(connection, user_id, conversation_id, None, event)
            .await?;
        Ok(Outcome::Done)
    }

    /// Sets a conversation's title if it is still `replaces`; `None` leaves it.
    pub(super) async fn set_title(
        &mut self,
        connection: &mut Connection,
        run: &RunKey,
        replaces: &str,
        title: Option<&str>,
    ) -> Result<Outcome, ChangeError> {
        let Some(title) = title else {
            return Ok(Outcome::Done);
        };
        let replaced =
            query("UPDATE conversations SET title = $3 WHERE user_id = $1 AND id = $2 AND title = $4")
                .bind_value(run.user_id)
                .bind_value(run.conversation_id)
                .bind(title)
                .bind(replaces)
                .execute(&mut *connection)
                .await?;
        if replaced.rows_affected() > 0 {
            let event = ConversationEvent::ConversationRenamed { title: title.into() };
            let key = (run.user_id, run.conversation_id);
            self.log_event(&mut *connection, key.0, key.1, None, event)
                .await?;
            self.tell_readers_of_conversation(connection, key).await?;
        }
        Ok(Outcome::Done)
    }

    /// Adds the tokens of a title to the answer after which it was made, unless that is being continued.
    pub(super) async fn count_title(
        &mut self,
        connection: &mut Connection,
        run: &RunKey,
        totals: TokenTotals,
    ) -> Result<(), ChangeError> {
        if totals.is_empty() {
            return Ok(());
        }
        let found = messages::message(&mut *connection, run.user_id, run.message_id).await?;
        let Some((_, mut message)) = found else {
            return Ok(());
        };
        let answer = message.assistant_mut();
        let Some(answer) = answer.filter(|answer| answer.status.is_terminal() && !answer.is_damaged()) else {
            return Ok(());
        };
        let Some(usage) = answer.usage else {
            return Ok(());
        };
        let event = RunEvent::Usage(Usage {
            totals: usage.totals.plus(totals),
            ..usage
        });
        apply_to_run(answer, &event);
        update_message(&mut *connection, run.user_id, run.message_id, answer).await?;
        count_usage(&mut *connection, run, &usage.totals.plus(totals), self.at).await?;
        let message_id = Some(run.message_id);
        self.log_event(connection, run.user_id, run.conversation_id, message_id, event)
            .await?;
        Ok(())
    }

    /// Shows the newest branch through a message.
    pub(super) async fn select_branch(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        conversation_id: ConversationId,
        through: MessageId,
    ) -> Result<Outcome, ChangeError> {
        let leaf = query(NEWEST_DESCENDANT)
            .bind_value(user_id)
            .bind_value(conversation_id)
            .bind_value(through)
            .fetch_optional(&mut *connection)
            .await?;
        let Some(leaf) = leaf else {
            Err(ChangeRejection::NotFound)?
        };
        let leaf_id: MessageId = id(&leaf, "id")?;
        require_shown(&mut *connection, (user_id, conversation_id), leaf_id).await?;
        let sql = "UPDATE conversations SET active_leaf = $3 WHERE user_id = $1 AND id = $2";
        let event = ConversationEvent::LeafSelected { leaf_id };
        self.update_conversation(
            connection,
            user_id,
            conversation_id,
            sql,
            &leaf_id.to_string(),
            event,
        )
        .await
    }

    /// Marks a conversation as read. Logs no event if it is read already, has no result, or does not exist.
    pub(super) async fn mark_read(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Outcome, ChangeError> {
        let marked = query(
            "UPDATE conversations SET unseen = 0 WHERE user_id = $1 AND id = $2 AND unseen = 1 AND trashed_at IS NULL",
        )
        .bind_value(user_id)
        .bind_value(conversation_id)
        .execute(&mut *connection)
        .await?;
        if marked.rows_affected() > 0 {
            let read = ConversationEvent::ConversationRead;
            self.log_event(connection, user_id, conversation_id, None, read)
                .await?;
        }
        Ok(Outcome::Done)
    }

    pub(super) async fn delete_conversation(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Outcome, ChangeError> {
        // With an unreadable owner it is deleted by the owner of its messages.
        let known = query(concat!(
            "SELECT id FROM conversations WHERE user_id = $1 AND id = $2 UNION ALL ",
            lost_conversation!()
        ))
        .bind_value(user_id)
        .bind_value(conversation_id)
        .fetch_optional(&mut *connection)
        .await?;
        if known.is_none() {
            // Deleted already, perhaps by an earlier copy of the same request. The event of the deletion
            // stays in the log for clients that have not received it.
            return Ok(Outcome::Deleted { active_run: None });
        }
        let active = query(
            "SELECT id FROM runs WHERE user_id = $1 AND conversation_id = $2 AND status IN ('running', 'waiting')",
        )
        .bind_value(user_id)
        .bind_value(conversation_id)
        .fetch_optional(&mut *connection)
        .await?;
        let active_run = match &active {
            Some(run) => skip_damaged("runs", "of a deleted conversation", id(run, "id"))?,
            None => None,
        };
        query(
            "DELETE FROM events WHERE +user_id = $1 AND conversation_id = $2 AND typeof(position) <> 'integer'",
        )
        .bind_value(user_id)
        .bind_value(conversation_id)
        .execute(&mut *connection)
        .await?;
        // The log keeps the positions and no content. The events go before the runs, which lead to them.
        for of_conversation in [
            "message_id IN (SELECT id FROM runs WHERE user_id = $1 AND conversation_id = $2)",
            "message_id IS NULL AND conversation_id = $2",
        ] {
            let empty = format!("{EMPTY_EVENTS} AND +user_id = $1 AND {of_conversation}");
            query(empty)
                .bind_value(user_id)
                .bind_value(conversation_id)
                .execute(&mut *connection)
                .await?;
        }
        query("DELETE FROM conversations WHERE id = $1")
            .bind_value(conversation_id)
            .execute(&mut *connection)
            .await?;
        self.orphaned_runs.extend(active_run);
        query(
            "INSERT INTO deleted_conversations (id, user_id, deleted_at) VALUES ($1, $2, $3) \
             ON CONFLICT (id) DO UPDATE SET user_id = excluded.user_id, deleted_at = excluded.deleted_at",
        )
        .bind_value(conversation_id)
        .bind_value(user_id)
        .bind_value(self.at)
        .execute(&mut *connection)
        .await?;
        self.events
            .iter_mut()
            .filter(|logged| logged.event.conversation_id == conversation_id)
            .for_each(erase_event);
        self.log_event(
            connection,
            user_id,
            conversation_id,
            None,
            ConversationEvent::ConversationDeleted,
        )
        .await?;
        Ok(Outcome::Deleted { active_run })
    }
}
