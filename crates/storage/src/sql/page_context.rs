//! Queries about page contexts.

use crate::sql::database::{Connection, Row, query};

use super::{optional_text, text};
use crate::{PageContextSnapshot, StorageError, damage::skip_damaged};
use parlor_protocol::{MessageId, UserId};

/// Returns the page context of a message.
pub(super) async fn context_snapshot(
    connection: &mut Connection,
    user_id: UserId,
    message_id: MessageId,
) -> Result<Option<PageContextSnapshot>, StorageError> {
    let row =
        query("SELECT context, text, instructions FROM contexts WHERE user_id = $1 AND message_id = $2")
            .bind_value(user_id)
            .bind_value(message_id)
            .fetch_optional(connection)
            .await?;
    let snapshot = row.as_ref().map(|row| read_context_snapshot(row, message_id));
    let snapshot = snapshot.transpose()?;
    Ok(snapshot.flatten())
}

/// Reads a page context snapshot, if the row has a readable one.
pub(super) fn read_context_snapshot(
    row: &Row,
    question: MessageId,
) -> Result<Option<PageContextSnapshot>, StorageError> {
    let Some(context) = optional_text(row, "context")? else {
        return Ok(None);
    };
    let Some(context) = skip_damaged(
        "contexts",
        question,
        serde_json::from_str(&context).map_err(StorageError::from),
    )?
    else {
        return Ok(None);
    };
    Ok(Some(PageContextSnapshot {
        context,
        text: text(row, "text")?,
        instructions: text(row, "instructions")?,
    }))
}
