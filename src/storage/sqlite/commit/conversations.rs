//! What changes a conversation as a whole: one of its columns, or that it exists.

use sqlx::SqliteConnection;

use super::{super::id, Batch, Failure, blank};
use crate::{
    protocol::{ConversationId, EventBody, UserId},
    storage::{Outcome, Refusal},
};

impl Batch {
    /// Sets one column of a conversation to `value` and logs the event, if the conversation is the user's.
    pub(super) async fn update(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        conversation_id: ConversationId,
        sql: &'static str,
        value: &str,
        event: EventBody,
    ) -> Result<Outcome, Failure> {
        let updated = sqlx::query(sql)
            .bind(user_id.to_string())
            .bind(conversation_id.to_string())
            .bind(value)
            .execute(&mut *connection)
            .await?;
        if updated.rows_affected() == 0 {
            Err(Refusal::NotFound)?;
        }
        self.log(connection, user_id, conversation_id, None, event)
            .await?;
        Ok(Outcome::Done)
    }

    /// What is no news any more (or never was, or is gone) makes no event.
    pub(super) async fn mark_read(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Outcome, Failure> {
        let marked =
            sqlx::query("UPDATE conversations SET unseen = 0 WHERE user_id = ? AND id = ? AND unseen = 1")
                .bind(user_id.to_string())
                .bind(conversation_id.to_string())
                .execute(&mut *connection)
                .await?;
        if marked.rows_affected() > 0 {
            let read = EventBody::ConversationRead;
            self.log(connection, user_id, conversation_id, None, read).await?;
        }
        Ok(Outcome::Done)
    }

    pub(super) async fn delete(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Outcome, Failure> {
        let (user, conversation) = (user_id.to_string(), conversation_id.to_string());
        let known = sqlx::query("SELECT 1 FROM conversations WHERE user_id = ? AND id = ?")
            .bind(&user)
            .bind(&conversation)
            .fetch_optional(&mut *connection)
            .await?;
        if known.is_none() {
            // Gone already, perhaps by the same wish. That it was deleted stays in the log, for those who have not heard.
            return Ok(Outcome::Deleted { active_run: None });
        }
        let active = sqlx::query(
            "SELECT id FROM runs WHERE user_id = ? AND conversation_id = ? AND status IN ('running', 'waiting')",
        )
        .bind(&user)
        .bind(&conversation)
        .fetch_optional(&mut *connection)
        .await?;
        let active_run = active.as_ref().map(|run| id(run, "id")).transpose()?;
        // The log keeps the positions, and nothing of what was said. Before the runs are gone, which lead to their events.
        for of_conversation in [
            "message_id IN (SELECT id FROM runs WHERE user_id = ?1 AND conversation_id = ?2)",
            "message_id IS NULL AND conversation_id = ?2",
        ] {
            let empty = format!(
                "UPDATE events SET message_id = NULL, event = json_object('position', position, 'conversation_id', \
                 conversation_id, 'type', 'empty') WHERE +user_id = ?1 AND {of_conversation}"
            );
            sqlx::query(sqlx::AssertSqlSafe(empty))
                .bind(&user)
                .bind(&conversation)
                .execute(&mut *connection)
                .await?;
        }
        sqlx::query("DELETE FROM conversations WHERE user_id = ? AND id = ?")
            .bind(&user)
            .bind(&conversation)
            .execute(&mut *connection)
            .await?;
        self.orphaned.extend(active_run);
        sqlx::query("INSERT INTO deleted_conversations (id, user_id, deleted_at) VALUES (?, ?, ?)")
            .bind(&conversation)
            .bind(&user)
            .bind(self.at.0)
            .execute(&mut *connection)
            .await?;
        self.events
            .iter_mut()
            .filter(|logged| logged.event.conversation_id == conversation_id)
            .for_each(blank);
        self.log(
            connection,
            user_id,
            conversation_id,
            None,
            EventBody::ConversationDeleted,
        )
        .await?;
        Ok(Outcome::Deleted { active_run })
    }
}
