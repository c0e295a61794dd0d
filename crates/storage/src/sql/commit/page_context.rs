//! Changes to page contexts: the page that the user has open while they write a message.

use crate::sql::database::{Connection, query};

use super::ChangeError;
use crate::{Outcome, PageContextSnapshot, RunKey, StorageError};
use parlor_protocol::{MessageId, UserId};

/// Stores the page that the user has open while they write a message.
pub(super) async fn insert_page_context(
    connection: &mut Connection,
    user_id: UserId,
    message_id: MessageId,
    snapshot: &PageContextSnapshot,
) -> Result<(), StorageError> {
    query(
        "INSERT INTO contexts (message_id, user_id, context, text, instructions) VALUES ($1, $2, $3, $4, $5)",
    )
    .bind_value(message_id)
    .bind_value(user_id)
    .bind(serde_json::to_string(&snapshot.context)?)
    .bind(&snapshot.text)
    .bind(&snapshot.instructions)
    .execute(connection)
    .await?;
    Ok(())
}

/// Gives another version of a message the page context of the first one.
pub(super) async fn copy_page_context(
    connection: &mut Connection,
    user_id: UserId,
    from: MessageId,
    to: MessageId,
) -> Result<(), StorageError> {
    query(
        "INSERT INTO contexts (message_id, user_id, context, text, instructions) \
         SELECT $3, user_id, context, text, instructions FROM contexts WHERE user_id = $1 AND message_id = $2",
    )
    .bind_value(user_id)
    .bind_value(from)
    .bind_value(to)
    .execute(connection)
    .await?;
    Ok(())
}

/// Stores the page's description for the model and the user's instructions for the page, unless a description is
/// stored.
pub(super) async fn store_context_description(
    connection: &mut Connection,
    run: &RunKey,
    text: &str,
    instructions: &str,
) -> Result<Outcome, ChangeError> {
    query(
        "UPDATE contexts SET text = $1, instructions = $2 WHERE user_id = $3 AND text = '' \
         AND message_id = (SELECT parent_id FROM messages WHERE user_id = contexts.user_id AND id = $4)",
    )
    .bind(text)
    .bind(instructions)
    .bind_value(run.user_id)
    .bind_value(run.message_id)
    .execute(connection)
    .await?;
    Ok(Outcome::Done)
}
