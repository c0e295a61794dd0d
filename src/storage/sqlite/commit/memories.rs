//! What is remembered of a person. No conversation shows it, so nothing of it is in the log: who looks at it loads it.

use sqlx::SqliteConnection;

use super::{Batch, Failure};
use crate::{
    protocol::{MemoryId, UserId},
    storage::{Outcome, Refusal},
};

impl Batch {
    /// Remembers a text, unless just that is remembered already.
    pub(super) async fn remember_text(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        memory_id: MemoryId,
        text: &str,
        limit: usize,
    ) -> Result<Outcome, Failure> {
        let user = user_id.to_string();
        sqlx::query("INSERT INTO users (id, position) VALUES (?, 0) ON CONFLICT DO NOTHING")
            .bind(&user)
            .execute(&mut *connection)
            .await?;
        let (known, count): (i64, i64) = sqlx::query_as(
            "SELECT count(*) FILTER (WHERE text = ?2), count(*) FROM memories WHERE user_id = ?1",
        )
        .bind(&user)
        .bind(text)
        .fetch_one(&mut *connection)
        .await?;
        if known > 0 {
            return Ok(Outcome::Done);
        }
        if usize::try_from(count).is_ok_and(|count| count >= limit) {
            Err(Refusal::MemoryFull)?;
        }
        sqlx::query("INSERT INTO memories (id, user_id, text, created_at) VALUES (?, ?, ?, ?)")
            .bind(memory_id.to_string())
            .bind(&user)
            .bind(text)
            .bind(self.at.0)
            .execute(connection)
            .await?;
        Ok(Outcome::Done)
    }

    pub(super) async fn forget(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        memory_id: MemoryId,
    ) -> Result<Outcome, Failure> {
        let forgotten = sqlx::query("DELETE FROM memories WHERE user_id = ? AND id = ?")
            .bind(user_id.to_string())
            .bind(memory_id.to_string())
            .execute(connection)
            .await?;
        match forgotten.rows_affected() {
            0 => Err(Refusal::NotFound)?,
            _ => Ok(Outcome::Forgotten),
        }
    }
}
