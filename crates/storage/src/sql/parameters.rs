//! The query about model parameters.

use crate::sql::database::{Connection, Row, query};

use super::optional_text;
use crate::{StorageError, damage::skip_damaged};
use parlor_protocol::{ConversationId, Parameters, UserId};

pub(super) async fn parameters(
    connection: &mut Connection,
    user_id: UserId,
    conversation_id: ConversationId,
) -> Result<Option<Parameters>, StorageError> {
    let row =
        query("SELECT parameters FROM conversations WHERE user_id = $1 AND id = $2 AND trashed_at IS NULL")
            .bind_value(user_id)
            .bind_value(conversation_id)
            .fetch_optional(connection)
            .await?;
    let read = |row: &Row| read_parameters(row, conversation_id);
    row.as_ref().map(read).transpose()
}

/// Reads a conversation's model parameters. A missing or unreadable value sets none.
pub(super) fn read_parameters(
    row: &Row,
    conversation_id: ConversationId,
) -> Result<Parameters, StorageError> {
    let Some(parameters) = optional_text(row, "parameters")? else {
        return Ok(Parameters::default());
    };
    let read = serde_json::from_str(&parameters).map_err(StorageError::from);
    Ok(skip_damaged("conversations", conversation_id, read)?.unwrap_or_default())
}
