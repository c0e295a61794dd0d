//! The place of a conversation in the list: pinned, archived, deleted and restored; in which project it is, is in `projects`.

use crate::sql::database::{Connection, query, query_scalar};

use super::{
    super::{expired, id, queries},
    Batch, ChangeError,
};
use crate::{ChangeRejection, ExpiryReason, Outcome, damage::skip_damaged};
use parlor_protocol::{ConversationEvent, ConversationId, Timestamp, UserId};

pub(super) type Key = (UserId, ConversationId);

impl Batch<'_> {
    /// Pins a conversation, which takes it out of the archive, or does not pin it any more.
    pub(super) async fn set_pinned(
        &mut self,
        connection: &mut Connection,
        key: Key,
        is_pinned: bool,
        limit: usize,
    ) -> Result<Outcome, ChangeError> {
        if is_pinned {
            let others: i64 = query_scalar(
                "SELECT count(*) FROM conversations WHERE user_id = $1 AND pinned <> 0 AND trashed_at IS NULL AND id <> $2",
            )
            .bind_value(key.0)
            .bind_value(key.1)
            .fetch_one(&mut *connection)
            .await?;
            if usize::try_from(others).is_ok_and(|others| others >= limit) {
                Err(ChangeRejection::PinsFull)?;
            }
        }
        let sql = match is_pinned {
            true => {
                "UPDATE conversations SET pinned = 1, archived = 0 WHERE user_id = $1 AND id = $2 AND pinned = 0 AND trashed_at IS NULL"
            }
            false => {
                "UPDATE conversations SET pinned = 0 WHERE user_id = $1 AND id = $2 AND pinned <> 0 AND trashed_at IS NULL"
            }
        };
        self.place(connection, key, sql).await
    }

    /// Archives a conversation, which is then not pinned any more, or takes it back into the list.
    pub(super) async fn set_archived(
        &mut self,
        connection: &mut Connection,
        key: Key,
        is_archived: bool,
    ) -> Result<Outcome, ChangeError> {
        let sql = match is_archived {
            true => {
                "UPDATE conversations SET archived = 1, pinned = 0 WHERE user_id = $1 AND id = $2 AND archived = 0 AND trashed_at IS NULL"
            }
            false => {
                "UPDATE conversations SET archived = 0 WHERE user_id = $1 AND id = $2 AND archived <> 0 AND trashed_at IS NULL"
            }
        };
        self.place(connection, key, sql).await
    }

    /// Takes a conversation out of the archive, because there is activity in it.
    pub(super) async fn leave_archive(
        &mut self,
        connection: &mut Connection,
        key: Key,
    ) -> Result<(), ChangeError> {
        let is_archived: bool = query_scalar(
            "SELECT EXISTS (SELECT 1 FROM conversations WHERE user_id = $1 AND id = $2 AND archived <> 0)",
        )
        .bind_value(key.0)
        .bind_value(key.1)
        .fetch_one(&mut *connection)
        .await?;
        if is_archived {
            self.set_archived(connection, key, false).await?;
        }
        Ok(())
    }

    /// Makes a temporary conversation one that stays and is found by the search.
    pub(super) async fn keep_conversation(
        &mut self,
        connection: &mut Connection,
        key: Key,
    ) -> Result<Outcome, ChangeError> {
        let sql = "UPDATE conversations SET temporary = 0 WHERE user_id = $1 AND id = $2 AND temporary <> 0 AND trashed_at IS NULL";
        let placed = self.place(&mut *connection, key, sql).await?;
        if placed == Outcome::Done {
            self.index_conversation(connection, key).await?;
        }
        Ok(placed)
    }

    /// Deletes a conversation so that it can be restored. This only marks it, however long it is: the search leaves out what is
    /// marked, and its words are deleted with its messages.
    pub(super) async fn trash_conversation(
        &mut self,
        connection: &mut Connection,
        key: Key,
        trashed_at: Timestamp,
    ) -> Result<Outcome, ChangeError> {
        let trashed = query(
            "UPDATE conversations SET trashed_at = $3 WHERE user_id = $1 AND id = $2 AND trashed_at IS NULL",
        )
        .bind_value(key.0)
        .bind_value(key.1)
        .bind_value(trashed_at)
        .execute(&mut *connection)
        .await?;
        if trashed.rows_affected() == 0 {
            let is_known: bool =
                query_scalar("SELECT EXISTS (SELECT 1 FROM conversations WHERE user_id = $1 AND id = $2)")
                    .bind_value(key.0)
                    .bind_value(key.1)
                    .fetch_one(&mut *connection)
                    .await?;
            // One with an unreadable owner can't be restored.
            return match is_known {
                true => Ok(Outcome::Deleted { active_run: None }),
                false => self.delete_conversation(connection, key.0, key.1).await,
            };
        }
        let active = query(
            "SELECT id FROM runs WHERE user_id = $1 AND conversation_id = $2 AND status IN ('running', 'waiting')",
        )
        .bind_value(key.0)
        .bind_value(key.1)
        .fetch_optional(&mut *connection)
        .await?;
        let active_run = match &active {
            Some(run) => skip_damaged("runs", "of a deleted conversation", id(run, "id"))?,
            None => None,
        };
        self.log_event(
            connection,
            key.0,
            key.1,
            None,
            ConversationEvent::ConversationDeleted,
        )
        .await?;
        Ok(Outcome::Deleted { active_run })
    }

    /// Restores a deleted conversation.
    pub(super) async fn restore_conversation(
        &mut self,
        connection: &mut Connection,
        key: Key,
    ) -> Result<Outcome, ChangeError> {
        let sql = "UPDATE conversations SET trashed_at = NULL WHERE user_id = $1 AND id = $2 AND trashed_at IS NOT NULL";
        let placed = self.place(&mut *connection, key, sql).await?;
        // Earlier versions took it out of the index when it was deleted.
        let is_indexed: bool =
            query_scalar("SELECT EXISTS (SELECT 1 FROM search_documents WHERE source = $1)")
                .bind_value(key.1)
                .fetch_one(&mut *connection)
                .await?;
        if !is_indexed {
            self.index_conversation(connection, key).await?;
        }
        Ok(placed)
    }

    /// Erases a conversation that is deleted since this time.
    pub(super) async fn erase_conversation(
        &mut self,
        connection: &mut Connection,
        key: Key,
        trashed_at: Timestamp,
    ) -> Result<Outcome, ChangeError> {
        // Another time is that of a later deletion, after a restoration.
        let is_trashed: bool = query_scalar(
            "SELECT EXISTS (SELECT 1 FROM conversations WHERE user_id = $1 AND id = $2 AND trashed_at = $3)",
        )
        .bind_value(key.0)
        .bind_value(key.1)
        .bind_value(trashed_at)
        .fetch_one(&mut *connection)
        .await?;
        match is_trashed {
            true => self.delete_conversation(connection, key.0, key.1).await,
            false => Ok(Outcome::Done),
        }
    }

    /// Erases a conversation without activity since this time, if the reason still holds.
    pub(super) async fn expire_conversation(
        &mut self,
        connection: &mut Connection,
        key: Key,
        before: Timestamp,
        reason: ExpiryReason,
    ) -> Result<Outcome, ChangeError> {
        match expired::is_expired(&mut *connection, key, before, reason).await? {
            true => self.delete_conversation(connection, key.0, key.1).await,
            false => Ok(Outcome::Done),
        }
    }

    /// Runs an update of a conversation, and logs its new place. Logs nothing if the update changes nothing.
    async fn place(
        &mut self,
        connection: &mut Connection,
        key: Key,
        sql: &'static str,
    ) -> Result<Outcome, ChangeError> {
        let updated = query(sql)
            .bind_value(key.0)
            .bind_value(key.1)
            .execute(&mut *connection)
            .await?;
        self.log_place(connection, key, updated.rows_affected() > 0).await
    }

    /// Logs the new place of a conversation, if it has another one.
    pub(super) async fn log_place(
        &mut self,
        connection: &mut Connection,
        key: Key,
        is_changed: bool,
    ) -> Result<Outcome, ChangeError> {
        let stored = queries::conversation(&mut *connection, key.0, key.1).await?;
        let conversation = stored.ok_or(ChangeRejection::NotFound)?.listed;
        if !is_changed {
            return Ok(Outcome::Unchanged);
        }
        let placed = ConversationEvent::ConversationPlaced { conversation };
        self.log_event(connection, key.0, key.1, None, placed).await?;
        Ok(Outcome::Done)
    }
}

/// Rejects a change of a deleted conversation.
pub(super) async fn require_not_trashed(connection: &mut Connection, key: Key) -> Result<(), ChangeError> {
    match queries::is_trashed(connection, key.0, key.1).await? {
        true => Err(ChangeRejection::NotFound)?,
        false => Ok(()),
    }
}
