//! Queries about a user's own settings, API tokens and memories.

use crate::sql::database::{Connection, Row, query, query_scalar};

use super::{id, read_undamaged_rows, text};
use crate::{StorageError, TokenHash, damage::skip_damaged, projects::GivenMemory};
use parlor_protocol::{ApiToken, ConversationId, Memory, ProjectId, Timestamp, UserId};

/// The memories of a user that are in no project, newest first: ids are ordered by their creation time.
pub(crate) const SELECT_MEMORIES: &str =
    "SELECT id, text, created_at FROM memories WHERE user_id = $1 AND project_id IS NULL ORDER BY id DESC";

/// The memories of a project (`$2`).
pub(crate) const SELECT_PROJECT_MEMORIES: &str =
    "SELECT id, text, created_at FROM memories WHERE user_id = $1 AND project_id = $2 ORDER BY id DESC";

/// The memories that a conversation (`$2`) is given: those in no project, and those of its own.
pub(crate) const SELECT_MEMORIES_FOR: &str = "SELECT id, text, created_at, project_id IS NOT NULL AS is_of_project FROM memories \
     WHERE user_id = $1 AND (project_id IS NULL OR project_id = (SELECT c.project_id FROM conversations c WHERE c.user_id = $1 AND c.id = $2)) \
     ORDER BY id DESC";

pub(crate) const SELECT_TOKENS: &str = "SELECT id, name, beginning, created_at, expires_at, last_used_at FROM api_tokens \
     WHERE user_id = $1 ORDER BY id DESC";

pub(crate) const SELECT_TOKEN: &str = "SELECT user_id, id, name, beginning, created_at, expires_at, last_used_at FROM api_tokens WHERE hash = $1";

pub(super) async fn memories(
    connection: &mut Connection,
    user_id: UserId,
) -> Result<Vec<Memory>, StorageError> {
    let rows = query(SELECT_MEMORIES)
        .bind_value(user_id)
        .fetch_all(connection)
        .await?;
    read_undamaged_rows("memories", "id", &rows, read_memory)
}

pub(super) async fn project_memories(
    connection: &mut Connection,
    user_id: UserId,
    project_id: ProjectId,
) -> Result<Vec<Memory>, StorageError> {
    let rows = query(SELECT_PROJECT_MEMORIES)
        .bind_value(user_id)
        .bind_value(project_id)
        .fetch_all(connection)
        .await?;
    read_undamaged_rows("memories", "id", &rows, read_memory)
}

pub(super) async fn memories_for(
    connection: &mut Connection,
    user_id: UserId,
    conversation_id: ConversationId,
) -> Result<Vec<GivenMemory>, StorageError> {
    let rows = query(SELECT_MEMORIES_FOR)
        .bind_value(user_id)
        .bind_value(conversation_id)
        .fetch_all(connection)
        .await?;
    read_undamaged_rows("memories", "id", &rows, |row| {
        Ok(GivenMemory {
            memory: read_memory(row)?,
            is_of_project: row.try_get("is_of_project")?,
        })
    })
}

fn read_memory(row: &Row) -> Result<Memory, StorageError> {
    Ok(Memory {
        id: id(row, "id")?,
        text: text(row, "text")?,
        created_at: Timestamp(row.try_get("created_at")?),
    })
}

pub(super) async fn instructions(
    connection: &mut Connection,
    user_id: UserId,
) -> Result<String, StorageError> {
    let row = query("SELECT text FROM instructions WHERE user_id = $1")
        .bind_value(user_id)
        .fetch_optional(connection)
        .await?;
    row.map_or_else(|| Ok(String::new()), |row| text(&row, "text"))
}

pub(super) async fn may_search_chats(
    connection: &mut Connection,
    user_id: UserId,
) -> Result<bool, StorageError> {
    let may_search = query_scalar("SELECT EXISTS (SELECT 1 FROM chat_search WHERE user_id = $1)");
    Ok(may_search.bind_value(user_id).fetch_one(connection).await?)
}

pub(super) async fn seen_version(
    connection: &mut Connection,
    user_id: UserId,
) -> Result<Option<String>, StorageError> {
    let row = query("SELECT seen_version FROM users WHERE id = $1")
        .bind_value(user_id)
        .fetch_optional(connection)
        .await?;
    row.map(|row| text(&row, "seen_version")).transpose()
}

pub(super) async fn tokens(
    connection: &mut Connection,
    user_id: UserId,
) -> Result<Vec<ApiToken>, StorageError> {
    let rows = query(SELECT_TOKENS)
        .bind_value(user_id)
        .fetch_all(connection)
        .await?;
    read_undamaged_rows("api_tokens", "id", &rows, read_token)
}

/// Returns the token with a hash. The lookup need not take constant time: its duration depends only on
/// hashes, and the hash of a guessed token reveals nothing about a valid one.
pub(super) async fn token_by_hash(
    connection: &mut Connection,
    hash: &TokenHash,
) -> Result<Option<(UserId, ApiToken)>, StorageError> {
    let row = query(SELECT_TOKEN)
        .bind_value(hash)
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let read = || Ok((id(&row, "user_id")?, read_token(&row)?));
    skip_damaged("api_tokens", text(&row, "id")?, read())
}

fn read_token(row: &Row) -> Result<ApiToken, StorageError> {
    let time = |column| -> Result<_, StorageError> {
        let time: Option<i64> = row.try_get(column)?;
        Ok(time.map(Timestamp))
    };
    Ok(ApiToken {
        id: id(row, "id")?,
        name: text(row, "name")?,
        beginning: text(row, "beginning")?,
        created_at: Timestamp(row.try_get("created_at")?),
        expires_at: time("expires_at")?,
        last_used_at: time("last_used_at")?,
    })
}
