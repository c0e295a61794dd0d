//! Changes to a user's memories, and to those of projects. No conversation shows them, so the log says only that they changed.

use crate::sql::database::{Connection, query};

use super::{super::optional_id, Batch, ChangeError, personal::ensure_user, projects::require_project};
use crate::{ChangeRejection, Outcome};
use parlor_protocol::{Memory, MemoryId, ProjectId, UserId};

/// The owner of memories: a user, or one of the user's projects.
type Place = (UserId, Option<ProjectId>);

impl Batch<'_> {
    /// Adds a memory, unless the same text is stored there already.
    pub(super) async fn add_memory(
        &mut self,
        connection: &mut Connection,
        place: Place,
        memory: &Memory,
        limit: usize,
    ) -> Result<Outcome, ChangeError> {
        let (user_id, project_id) = place;
        ensure_user(connection, user_id).await?;
        if let Some(project_id) = project_id {
            require_project(&mut *connection, user_id, project_id).await?;
        }
        let counts = query(
            "SELECT count(*) FILTER (WHERE text = $2 OR id = $3) AS known, count(*) AS count FROM memories \
             WHERE user_id = $1 AND project_id IS NOT DISTINCT FROM $4",
        )
        .bind_value(user_id)
        .bind(&memory.text)
        .bind_value(memory.id)
        .bind_value(project_id)
        .fetch_one(&mut *connection)
        .await?;
        let (known, count): (i64, i64) = (counts.try_get("known")?, counts.try_get("count")?);
        if known > 0 {
            return Ok(Outcome::Done);
        }
        if usize::try_from(count).is_ok_and(|count| count >= limit) {
            Err(ChangeRejection::MemoryFull)?;
        }
        query("INSERT INTO memories (id, user_id, text, created_at, project_id) VALUES ($1, $2, $3, $4, $5)")
            .bind_value(memory.id)
            .bind_value(user_id)
            .bind(&memory.text)
            .bind_value(memory.created_at)
            .bind_value(project_id)
            .execute(&mut *connection)
            .await?;
        self.log_memories_changed(connection, place).await?;
        Ok(Outcome::Done)
    }

    /// Replaces the text of a memory.
    pub(super) async fn edit_memory(
        &mut self,
        connection: &mut Connection,
        (user_id, memory_id): (UserId, MemoryId),
        text: &str,
    ) -> Result<Outcome, ChangeError> {
        let project_id = project_of_memory(&mut *connection, user_id, memory_id).await?;
        query("UPDATE memories SET text = $3 WHERE user_id = $1 AND id = $2")
            .bind_value(user_id)
            .bind_value(memory_id)
            .bind(text)
            .execute(&mut *connection)
            .await?;
        self.log_memories_changed(connection, (user_id, project_id))
            .await?;
        // The former text counts as deleted data.
        Ok(Outcome::DataDeleted)
    }

    /// Deletes one memory.
    pub(super) async fn delete_memory(
        &mut self,
        connection: &mut Connection,
        (user_id, memory_id): (UserId, MemoryId),
    ) -> Result<Outcome, ChangeError> {
        let project_id = project_of_memory(&mut *connection, user_id, memory_id).await?;
        query("DELETE FROM memories WHERE user_id = $1 AND id = $2")
            .bind_value(user_id)
            .bind_value(memory_id)
            .execute(&mut *connection)
            .await?;
        self.log_memories_changed(connection, (user_id, project_id))
            .await?;
        Ok(Outcome::DataDeleted)
    }

    /// Deletes all memories of a user that are in no project, or all of a project.
    pub(super) async fn delete_all_memories(
        &mut self,
        connection: &mut Connection,
        place: Place,
    ) -> Result<Outcome, ChangeError> {
        let forgotten =
            query("DELETE FROM memories WHERE user_id = $1 AND project_id IS NOT DISTINCT FROM $2")
                .bind_value(place.0)
                .bind_value(place.1)
                .execute(&mut *connection)
                .await?;
        if forgotten.rows_affected() == 0 {
            return Ok(Outcome::Done);
        }
        self.log_memories_changed(connection, place).await?;
        Ok(Outcome::DataDeleted)
    }

    async fn log_memories_changed(
        &mut self,
        connection: &mut Connection,
        (user_id, project_id): Place,
    ) -> Result<(), ChangeError> {
        match project_id {
            Some(project_id) => {
                self.log_project_of_owner(connection, (user_id, project_id), false)
                    .await
            }
            None => Ok(self.log_settings_changed(connection, user_id).await?),
        }
    }
}

/// Returns the project of a memory; `None` if it is in none. A damaged project counts as none.
async fn project_of_memory(
    connection: &mut Connection,
    user_id: UserId,
    memory_id: MemoryId,
) -> Result<Option<ProjectId>, ChangeError> {
    let row = query("SELECT project_id FROM memories WHERE user_id = $1 AND id = $2")
        .bind_value(user_id)
        .bind_value(memory_id)
        .fetch_optional(connection)
        .await?;
    let row = row.ok_or(ChangeRejection::NotFound)?;
    let read = optional_id::<ProjectId>(&row, "project_id");
    Ok(crate::damage::skip_damaged("memories", memory_id, read)?.flatten())
}
