//! Changes to a user's memories. No conversation shows them, so the log says only that they changed.

use crate::sql::database::{Connection, query};

use super::{Batch, ChangeError, personal::ensure_user};
use crate::{ChangeRejection, Outcome};
use parlor_protocol::{Memory, MemoryId, UserId};

impl Batch<'_> {
    /// Adds a memory, unless the same text is stored already.
    pub(super) async fn add_memory(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        memory: &Memory,
        limit: usize,
    ) -> Result<Outcome, ChangeError> {
        ensure_user(connection, user_id).await?;
        let counts = query(
            "SELECT count(*) FILTER (WHERE text = $2 OR id = $3) AS known, count(*) AS count FROM memories WHERE user_id = $1",
        )
        .bind_value(user_id)
        .bind(&memory.text)
        .bind_value(memory.id)
        .fetch_one(&mut *connection)
        .await?;
        let (known, count): (i64, i64) = (counts.try_get("known")?, counts.try_get("count")?);
        if known > 0 {
            return Ok(Outcome::Done);
        }
        if usize::try_from(count).is_ok_and(|count| count >= limit) {
            Err(ChangeRejection::MemoryFull)?;
        }
        query("INSERT INTO memories (id, user_id, text, created_at) VALUES ($1, $2, $3, $4)")
            .bind_value(memory.id)
            .bind_value(user_id)
            .bind(&memory.text)
            .bind_value(memory.created_at)
            .execute(&mut *connection)
            .await?;
        self.log_settings_changed(connection, user_id).await?;
        Ok(Outcome::Done)
    }

    /// Deletes one memory, or all of them.
    pub(super) async fn delete_memories(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        memory_id: Option<MemoryId>,
    ) -> Result<Outcome, ChangeError> {
        let forgotten = query("DELETE FROM memories WHERE user_id = $1 AND ($2 IS NULL OR id = $2)")
            .bind_value(user_id)
            .bind_value(memory_id)
            .execute(&mut *connection)
            .await?;
        match (forgotten.rows_affected(), memory_id) {
            (0, Some(_)) => Err(ChangeRejection::NotFound)?,
            (0, None) => Ok(Outcome::Done),
            _ => {
                self.log_settings_changed(connection, user_id).await?;
                Ok(Outcome::DataDeleted)
            }
        }
    }
}
