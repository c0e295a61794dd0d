//! The queries about how a model is called. Each takes a connection whose transaction makes it one consistent picture.

use sqlx::{Row, SqliteConnection, sqlite::SqliteRow};

use super::id;
use crate::{
    protocol::{ConversationId, Parameters, UserId},
    storage::{RunKey, StorageError, Summary, Terms},
};

/// What was forced belongs to the question, however often it is answered. It is kept with the run that was started with it.
const FORCED: &str = "SELECT runs.force_tools FROM messages answer \
     JOIN messages sibling ON sibling.parent_id = answer.parent_id JOIN runs ON runs.id = sibling.id \
     WHERE answer.user_id = ? AND answer.id = ? AND runs.force_tools IS NOT NULL LIMIT 1";

pub(super) async fn terms(connection: &mut SqliteConnection, run: RunKey) -> Result<Terms, StorageError> {
    let (user, conversation) = (run.user_id.to_string(), run.conversation_id.to_string());
    let forced: Option<String> = sqlx::query_scalar(FORCED)
        .bind(&user)
        .bind(run.message_id.to_string())
        .fetch_optional(&mut *connection)
        .await?;
    let rows =
        sqlx::query("SELECT message_id, text FROM summaries WHERE user_id = ? AND conversation_id = ?")
            .bind(&user)
            .bind(&conversation)
            .fetch_all(&mut *connection)
            .await?;
    let summary = |row: &SqliteRow| {
        Ok(Summary {
            reaches: id(row, "message_id")?,
            text: row.try_get("text")?,
        })
    };
    let parameters = parameters(connection, run.user_id, run.conversation_id).await?;
    Ok(Terms {
        parameters: parameters.unwrap_or_default(),
        force_tools: match forced {
            Some(tools) => serde_json::from_str(&tools)?,
            None => Vec::new(),
        },
        summaries: rows.iter().map(summary).collect::<Result<_, StorageError>>()?,
    })
}

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
