//! Keeps the log a bounded tail: what is old has its place in the messages, and nobody catches up from there.

use sqlx::{Connection, Row, SqliteConnection};

use super::position;
use crate::{
    protocol::{Position, Timestamp},
    storage::StorageError,
};

pub(super) async fn trim(
    connection: &mut SqliteConnection,
    before: Timestamp,
    keep: u64,
) -> Result<u64, StorageError> {
    let mut tx = connection.begin_with("BEGIN IMMEDIATE").await?;
    let mut removed = 0;
    for user in sqlx::query("SELECT id, position FROM users")
        .fetch_all(&mut *tx)
        .await?
    {
        let user_id: String = user.try_get("id")?;
        let head = position(&user, "position")?;
        let bounds = sqlx::query(
            "SELECT (SELECT max(position) FROM events WHERE user_id = ?1 AND created_at < ?2) AS aged, \
             (SELECT min(first_position) FROM runs WHERE user_id = ?1 AND status IN ('running', 'waiting')) AS run",
        )
        .bind(&user_id)
        .bind(before.0)
        .fetch_one(&mut *tx)
        .await?;
        let aged = bounds
            .try_get::<Option<i64>, _>("aged")?
            .unwrap_or(0)
            .unsigned_abs();
        let run = bounds
            .try_get::<Option<i64>, _>("run")?
            .map_or(u64::MAX, i64::unsigned_abs);
        let last = Position(
            aged.max(head.0.saturating_sub(keep))
                .min(run.saturating_sub(1))
                .min(head.0),
        );
        let events = sqlx::query("DELETE FROM events WHERE user_id = ? AND position <= ?")
            .bind(&user_id)
            .bind(last.0.cast_signed())
            .execute(&mut *tx)
            .await?
            .rows_affected();
        if events > 0 {
            sqlx::query("UPDATE users SET trimmed = ? WHERE id = ?")
                .bind(last.0.cast_signed())
                .bind(&user_id)
                .execute(&mut *tx)
                .await?;
        }
        removed += events;
    }
    sqlx::query("DELETE FROM intents WHERE created_at < ?")
        .bind(before.0)
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(removed)
}
