//! How a conversation's model is asked.

use sqlx::{Row, SqliteConnection, sqlite::SqliteRow};

use crate::{
    protocol::{ConversationId, Parameters, UserId},
    storage::StorageError,
};

pub(super) async fn parameters(
    connection: &mut SqliteConnection,
    user_id: UserId,
    conversation_id: ConversationId,
) -> Result<Option<Parameters>, StorageError> {
    let row = sqlx::query("SELECT parameters FROM conversations WHERE user_id = ? AND id = ?")
        .bind(user_id.to_string())
        .bind(conversation_id.to_string())
        .fetch_optional(connection)
        .await?;
    row.as_ref().map(read_parameters).transpose()
}

/// How a conversation's model is asked; nothing said is nothing set.
pub(super) fn read_parameters(row: &SqliteRow) -> Result<Parameters, StorageError> {
    Ok(match row.try_get::<Option<&str>, _>("parameters")? {
        Some(parameters) => serde_json::from_str(parameters)?,
        None => Parameters::default(),
    })
}
