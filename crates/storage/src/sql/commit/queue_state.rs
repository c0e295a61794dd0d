//! The state of a conversation that its queue depends on.

use crate::sql::database::{Connection, query, query_scalar};

use super::{super::messages, ChangeError};
use parlor_protocol::{ConversationId, MessageId, UserId};

/// A conversation of a user.
pub(super) type ConversationKey = (UserId, ConversationId);

/// Returns true if a new message has to wait: a run is active, or earlier messages will be sent by themselves. The
/// messages of a held queue wait for the user, and a new one does not wait for them.
pub(super) async fn must_wait(
    connection: &mut Connection,
    (user_id, conversation_id): ConversationKey,
) -> Result<bool, ChangeError> {
    let waits = query(
        "SELECT EXISTS (SELECT 1 FROM runs WHERE conversation_id = c.id AND status IN ('running', 'waiting')) \
             OR (c.queue_held = 0 AND EXISTS (SELECT 1 FROM queued_messages WHERE conversation_id = c.id)) AS waits \
         FROM conversations c WHERE c.user_id = $1 AND c.id = $2 AND c.trashed_at IS NULL",
    )
    .bind_value(user_id)
    .bind_value(conversation_id)
    .fetch_optional(connection)
    .await?;
    Ok(match waits {
        Some(row) => row.try_get("waits")?,
        None => false,
    })
}

/// Returns the last message of the shown branch.
pub(super) async fn active_leaf(
    connection: &mut Connection,
    key: ConversationKey,
) -> Result<Option<MessageId>, ChangeError> {
    let row = query("SELECT active_leaf FROM conversations WHERE user_id = $1 AND id = $2")
        .bind_value(key.0)
        .bind_value(key.1)
        .fetch_optional(&mut *connection)
        .await?;
    Ok(match row {
        Some(row) => messages::active_leaf(connection, key, &row).await?,
        None => None,
    })
}

pub(super) async fn is_held(connection: &mut Connection, key: ConversationKey) -> Result<bool, ChangeError> {
    let held = query_scalar("SELECT queue_held FROM conversations WHERE user_id = $1 AND id = $2")
        .bind_value(key.0)
        .bind_value(key.1)
        .fetch_optional(connection)
        .await?;
    Ok(held.unwrap_or(false))
}

pub(super) async fn set_held(
    connection: &mut Connection,
    key: ConversationKey,
    held: bool,
) -> Result<(), ChangeError> {
    query("UPDATE conversations SET queue_held = $1 WHERE user_id = $2 AND id = $3")
        .bind(held)
        .bind_value(key.0)
        .bind_value(key.1)
        .execute(connection)
        .await?;
    Ok(())
}

pub(super) async fn is_queue_empty(
    connection: &mut Connection,
    key: ConversationKey,
) -> Result<bool, ChangeError> {
    let found: bool = query_scalar(
        "SELECT EXISTS (SELECT 1 FROM queued_messages WHERE user_id = $1 AND conversation_id = $2)",
    )
    .bind_value(key.0)
    .bind_value(key.1)
    .fetch_one(connection)
    .await?;
    Ok(!found)
}
