//! The deletion of a message with all that follow it: hidden at once, erased when it can't be undone any more.

use crate::sql::database::{Connection, Query, query, query_scalar};

use super::{
    super::{branch, id, messages},
    Batch, ChangeError, EMPTY_EVENTS,
    conversations::NEWEST_DESCENDANT,
    erase_event,
    list_place::require_not_trashed,
    log::replace_logged_title,
    queue_state::active_leaf,
};
use crate::{ChangeRejection, Outcome, StorageError, damage::skip_damaged};
use parlor_protocol::{
    ConversationEvent, ConversationId, EventBody, Interaction, Message, MessageBody, MessageId, Timestamp,
    UserId, intent::derive_title,
};

/// A message (`$3`) and its descendants, the newest first. A message is always created before its descendants, so no
/// damaged link makes a circle.
const SELECT_SUBTREE: &str = "WITH RECURSIVE below (id, position) AS ( \
         SELECT id, position FROM messages WHERE user_id = $1 AND conversation_id = $2 AND id = $3 \
         UNION ALL \
         SELECT m.id, m.position FROM below b JOIN messages m ON m.user_id = $1 AND m.parent_id = b.id AND m.position > b.position) \
     SELECT id FROM below ORDER BY position DESC";

/// Selects the newest visible sibling of a message (`$3`).
const SELECT_NEWEST_SIBLING: &str = "SELECT o.id FROM messages m JOIN messages o ON o.user_id = m.user_id \
         AND o.conversation_id = m.conversation_id AND o.parent_id IS NOT DISTINCT FROM m.parent_id AND o.id <> m.id \
     WHERE m.user_id = $1 AND m.conversation_id = $2 AND m.id = $3 \
         AND o.id NOT IN (SELECT message_id FROM hidden_messages WHERE conversation_id = $2) ORDER BY o.position DESC LIMIT 1";

/// Selects whether a message (`$3`) or one of its ancestors is hidden.
const IS_HIDDEN: &str = "WITH RECURSIVE above (id) AS ( \
         SELECT id FROM messages WHERE user_id = $1 AND id = $3 AND EXISTS (SELECT 1 FROM hidden_messages WHERE user_id = $1 AND conversation_id = $2) \
         UNION \
         SELECT m.parent_id FROM above a JOIN messages m ON m.user_id = $1 AND m.id = a.id WHERE m.parent_id IS NOT NULL) \
     SELECT EXISTS (SELECT 1 FROM above JOIN hidden_messages h ON h.message_id = above.id \
         WHERE h.user_id = $1 AND h.conversation_id = $2)";

/// Keeps the events of questions that are not among the erased messages (`$3`), though these have the answers they belong to.
const KEEP_QUESTIONS: &str = "UPDATE events SET message_id = NULL WHERE +user_id = $1 AND conversation_id = $2 \
     AND message_id IN (SELECT value FROM json_each($3)) AND json_valid(event) AND event ->> '$.type' = 'user_message_saved' \
     AND event ->> '$.user_message_id' NOT IN (SELECT value FROM json_each($3))";

/// The first message of a conversation that is shown.
const SELECT_FIRST_MESSAGE: &str = "SELECT id FROM messages WHERE user_id = $1 AND conversation_id = $2 AND parent_id IS NULL \
     AND id NOT IN (SELECT message_id FROM hidden_messages WHERE user_id = $1) ORDER BY position LIMIT 1";

/// The title of a conversation whose first message was erased.
const UNTITLED: &str = "Untitled";

impl Batch<'_> {
    /// Hides a message with all that follow it. Has no effect on one that is hidden or erased already.
    pub(super) async fn delete_message(
        &mut self,
        connection: &mut Connection,
        key: (UserId, ConversationId),
        message_id: MessageId,
        hidden_at: Timestamp,
    ) -> Result<Outcome, ChangeError> {
        let (user, conversation) = key;
        let found = messages::message(&mut *connection, key.0, message_id).await?;
        if found.is_none_or(|(found_in, _)| found_in != key.1) {
            return Ok(Outcome::Done);
        }
        require_not_trashed(&mut *connection, key).await?;
        let active: bool = query_scalar(
            "SELECT EXISTS (SELECT 1 FROM runs WHERE conversation_id = $1 AND status IN ('running', 'waiting'))",
        )
        .bind_value(conversation)
        .fetch_one(&mut *connection)
        .await?;
        if active {
            Err(ChangeRejection::RunActive)?;
        }
        let hidden = query(
            "INSERT INTO hidden_messages (message_id, user_id, conversation_id, hidden_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
        )
        .bind_value(message_id)
        .bind_value(user)
        .bind_value(conversation)
        .bind_value(hidden_at)
        .execute(&mut *connection)
        .await?;
        if hidden.rows_affected() == 0 {
            return Ok(Outcome::Done);
        }
        let mut leaf_id = active_leaf(&mut *connection, key).await?;
        let subtree = self.subtree(&mut *connection, key, message_id).await?;
        self.forget_messages(&mut *connection, &subtree).await?;
        if leaf_id.is_some_and(|leaf| subtree.contains(&leaf)) {
            let parent_id = branch::parent(&mut *connection, key, message_id).await?.flatten();
            leaf_id = leaf_without(&mut *connection, key, message_id, parent_id).await?;
            set_leaf(&mut *connection, key, leaf_id).await?;
        }
        let event = ConversationEvent::MessageHidden {
            hidden_id: message_id,
            leaf_id,
        };
        self.log_event(connection, key.0, key.1, None, event).await?;
        Ok(Outcome::Done)
    }

    /// Shows a hidden message again, with all that follow it.
    pub(super) async fn restore_message(
        &mut self,
        connection: &mut Connection,
        key: (UserId, ConversationId),
        message_id: MessageId,
    ) -> Result<Outcome, ChangeError> {
        let shown = message_query(
            "DELETE FROM hidden_messages WHERE user_id = $1 AND conversation_id = $2 AND message_id = $3",
            key,
            message_id,
        )
        .execute(&mut *connection)
        .await?;
        if shown.rows_affected() == 0 {
            // It is shown already, or erased.
            let found = messages::message(connection, key.0, message_id).await?;
            found.ok_or(ChangeRejection::NotFound)?;
            return Ok(Outcome::Done);
        }
        // It stays hidden with a message before it.
        require_shown(&mut *connection, key, message_id).await?;
        let leaf = newest_descendant(&mut *connection, key, message_id).await?;
        let leaf_id = leaf.ok_or(ChangeRejection::NotFound)?;
        let subtree = self.subtree(&mut *connection, key, message_id).await?;
        self.index_messages(&mut *connection, &subtree).await?;
        set_leaf(&mut *connection, key, Some(leaf_id)).await?;
        let event = ConversationEvent::MessageRestored { leaf_id };
        self.log_event(connection, key.0, key.1, None, event).await?;
        Ok(Outcome::Done)
    }

    /// Erases a message that is hidden since this time, with all that follow it. The log keeps the positions and no
    /// content.
    pub(super) async fn erase_message(
        &mut self,
        connection: &mut Connection,
        key: (UserId, ConversationId),
        message_id: MessageId,
        hidden_at: Timestamp,
    ) -> Result<Outcome, ChangeError> {
        // Another time is that of a later deletion, after the message was restored. A damaged one is any.
        let hidden = message_query(
            "SELECT 1 FROM hidden_messages WHERE user_id = $1 AND conversation_id = $2 AND message_id = $3 \
             AND (hidden_at = $4 OR typeof(hidden_at) <> 'integer')",
            key,
            message_id,
        )
        .bind_value(hidden_at)
        .fetch_optional(&mut *connection)
        .await?;
        if hidden.is_none() {
            return Ok(Outcome::Done);
        }
        let subtree = self.subtree(&mut *connection, key, message_id).await?;
        let erased = messages::message(&mut *connection, key.0, message_id).await?;
        // The question's own event belongs to its first answer, and to no message once that is erased without the question.
        query(KEEP_QUESTIONS)
            .bind_value(key.0)
            .bind_value(key.1)
            .bind_list(&subtree)
            .execute(&mut *connection)
            .await?;
        for of_subtree in [
            "message_id IN (SELECT value FROM json_each($3))",
            "conversation_id = $2 AND message_id IS NULL AND json_valid(event) \
                 AND (event ->> '$.type' = 'message_queued' AND event ->> '$.queued.id' IN (SELECT value FROM json_each($3)) \
                     OR event ->> '$.type' = 'user_message_saved' \
                     AND event ->> '$.user_message_id' IN (SELECT value FROM json_each($3)))",
        ] {
            let empty = format!("{EMPTY_EVENTS} AND +user_id = $1 AND {of_subtree} AND $2 = conversation_id");
            query(empty)
                .bind_value(key.0)
                .bind_value(key.1)
                .bind_list(&subtree)
                .execute(&mut *connection)
                .await?;
        }
        self.events
            .iter_mut()
            .filter(|logged| {
                let of_message = match &logged.event.body {
                    // Its own message, and not the answer to come.
                    EventBody::Conversation(ConversationEvent::UserMessageSaved {
                        user_message_id, ..
                    }) => Some(*user_message_id),
                    EventBody::Conversation(_)
                    | EventBody::Run(_)
                    | EventBody::User(_)
                    | EventBody::Placeholder(_) => logged.event.message_id,
                };
                of_message.is_some_and(|id| subtree.contains(&id))
            })
            .for_each(erase_event);
        delete_messages(&mut *connection, key.0, &subtree).await?;
        // A snapshot without its last message opens nothing.
        query(
            "DELETE FROM shares WHERE user_id = $1 AND conversation_id = $2 AND leaf_id IN (SELECT value FROM json_each($3))",
        )
        .bind_value(key.0)
        .bind_value(key.1)
        .bind_list(&subtree)
        .execute(&mut *connection)
        .await?;
        if let Some((
            _,
            Message {
                body:
                    MessageBody::User {
                        text,
                        files,
                        interaction,
                    },
                ..
            },
        )) = erased
        {
            let mut title = derive_title(&text, files.first().map(|file| &*file.name));
            // A schedule without a name: the beginning of its prompt, and the day.
            if let Interaction::Scheduled(scheduled) = interaction
                && scheduled.title.starts_with(&title)
            {
                title = scheduled.title;
            }
            self.erase_title(connection, key, &title).await?;
        }
        Ok(Outcome::DataDeleted)
    }

    /// Gives a conversation the beginning of its first remaining message as its title, if the title was the beginning of
    /// an erased one.
    async fn erase_title(
        &mut self,
        connection: &mut Connection,
        key: (UserId, ConversationId),
        erased_title: &str,
    ) -> Result<(), ChangeError> {
        let (user, conversation) = key;
        let first = query(SELECT_FIRST_MESSAGE)
            .bind_value(user)
            .bind_value(conversation)
            .fetch_optional(&mut *connection)
            .await?;
        let first = match first {
            Some(row) => messages::message(&mut *connection, key.0, id(&row, "id")?).await?,
            None => None,
        };
        let title = match first {
            Some((
                _,
                Message {
                    body: MessageBody::User { text, files, .. },
                    ..
                },
            )) => derive_title(&text, files.first().map(|file| &*file.name)),
            _ => UNTITLED.to_owned(),
        };
        let renamed =
            query("UPDATE conversations SET title = $3 WHERE user_id = $1 AND id = $2 AND title = $4 AND title <> $3")
                .bind_value(user)
                .bind_value(conversation)
                .bind(&title)
                .bind(erased_title)
                .execute(&mut *connection)
                .await?;
        if renamed.rows_affected() == 0 {
            return Ok(());
        }
        replace_logged_title(&mut *connection, key, erased_title, &title).await?;
        let event = ConversationEvent::ConversationRenamed { title };
        self.log_event(connection, key.0, key.1, None, event).await?;
        Ok(())
    }

    /// Deletes a message with its descendants, which leaves their events.
    pub(super) async fn delete_subtree(
        &self,
        connection: &mut Connection,
        key: (UserId, ConversationId),
        message_id: MessageId,
    ) -> Result<(), ChangeError> {
        let subtree = self.subtree(&mut *connection, key, message_id).await?;
        delete_messages(connection, key.0, &subtree).await
    }

    /// Returns a message and its descendants, the newest first.
    async fn subtree(
        &self,
        connection: &mut Connection,
        key: (UserId, ConversationId),
        message_id: MessageId,
    ) -> Result<Vec<MessageId>, ChangeError> {
        let rows = message_query(SELECT_SUBTREE, key, message_id)
            .fetch_all(connection)
            .await?;
        let mut ids = Vec::with_capacity(rows.len());
        for row in &rows {
            let name: String = row.try_get("id").unwrap_or_default();
            ids.extend(skip_damaged("messages", name, id::<MessageId>(row, "id"))?);
        }
        Ok(ids)
    }
}

/// Deletes messages, the newest first: SQLite limits how deep one deletion may delete others.
async fn delete_messages(
    connection: &mut Connection,
    user_id: UserId,
    newest_first: &[MessageId],
) -> Result<(), ChangeError> {
    for message in newest_first {
        query("DELETE FROM messages WHERE user_id = $1 AND id = $2")
            .bind_value(user_id)
            .bind_value(message)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// A query about a message: `$1` is its user, `$2` its conversation, `$3` the message.
fn message_query(sql: &'static str, key: (UserId, ConversationId), message_id: MessageId) -> Query {
    query(sql)
        .bind_value(key.0)
        .bind_value(key.1)
        .bind_value(message_id)
}

/// Returns whether a message is hidden, by itself or with a message before it.
pub(super) async fn is_message_hidden(
    connection: &mut Connection,
    key: (UserId, ConversationId),
    message_id: MessageId,
) -> Result<bool, StorageError> {
    let is_hidden = query_scalar(IS_HIDDEN)
        .bind_value(key.0)
        .bind_value(key.1)
        .bind_value(message_id)
        .fetch_one(connection)
        .await?;
    Ok(is_hidden)
}

/// Rejects a change of a message that is not shown: it is hidden, or its conversation is deleted.
pub(super) async fn require_shown(
    connection: &mut Connection,
    key: (UserId, ConversationId),
    message_id: MessageId,
) -> Result<(), ChangeError> {
    require_not_trashed(&mut *connection, key).await?;
    match is_message_hidden(connection, key, message_id).await? {
        true => Err(ChangeRejection::NotFound)?,
        false => Ok(()),
    }
}

/// Returns the end of the branch that is shown without a message: the newest one through another version of it, or its
/// parent.
async fn leaf_without(
    connection: &mut Connection,
    key: (UserId, ConversationId),
    message_id: MessageId,
    parent_id: Option<MessageId>,
) -> Result<Option<MessageId>, ChangeError> {
    let sibling = message_query(SELECT_NEWEST_SIBLING, key, message_id)
        .fetch_optional(&mut *connection)
        .await?;
    match sibling {
        Some(row) => newest_descendant(connection, key, id(&row, "id")?).await,
        None => Ok(parent_id),
    }
}

async fn newest_descendant(
    connection: &mut Connection,
    key: (UserId, ConversationId),
    message_id: MessageId,
) -> Result<Option<MessageId>, ChangeError> {
    let leaf = message_query(NEWEST_DESCENDANT, key, message_id)
        .fetch_optional(connection)
        .await?;
    Ok(leaf.map(|row| id(&row, "id")).transpose()?)
}

async fn set_leaf(
    connection: &mut Connection,
    key: (UserId, ConversationId),
    leaf: Option<MessageId>,
) -> Result<(), ChangeError> {
    query("UPDATE conversations SET active_leaf = $1 WHERE user_id = $2 AND id = $3")
        .bind_value(leaf)
        .bind_value(key.0)
        .bind_value(key.1)
        .execute(connection)
        .await?;
    Ok(())
}
