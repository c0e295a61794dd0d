//! Trims the logs to a bounded tail: old output is in the stored messages, and no client catches up from that
//! far back.

use crate::sql::database::{Connection, query};

use super::{id, log_range::LogRange, optional_position, text};
use crate::{StorageError, damage::skip_damaged};
use parlor_protocol::{Position, Timestamp, UserId};

/// The number of events that one transaction removes. Commits wait while it runs.
pub(crate) const MAX_EVENTS_PER_TRIM: u64 = 5_000;

/// Trims the logs in an open transaction by at most [`MAX_EVENTS_PER_TRIM`] events, commits that, and returns the number of removed
/// events.
pub(super) async fn trim_log(
    connection: &mut Connection,
    before: Timestamp,
    keep: u64,
) -> Result<u64, StorageError> {
    let mut removed = 0;
    for user in query("SELECT id FROM users ORDER BY id")
        .fetch_all(&mut *connection)
        .await?
    {
        let Some(user) = skip_damaged("users", text(&user, "id")?, id::<UserId>(&user, "id"))? else {
            continue;
        };
        let LogRange { trimmed, head } = LogRange::read(&mut *connection, user).await?;
        // Positions have no gaps, so this counts events.
        let end = head.min(Position(trimmed.0 + MAX_EVENTS_PER_TRIM - removed));
        let bounds = query(
            "SELECT (SELECT min(position) FROM events WHERE user_id = $1 AND position <= $3 AND created_at >= $2) AS young, \
             (SELECT min(first_position) FROM runs WHERE user_id = $1 AND status IN ('running', 'waiting') AND status = 'running') AS run",
        )
        .bind_value(user)
        .bind_value(before)
        .bind_value(end)
        .fetch_one(&mut *connection)
        .await?;
        let before_first = |column| -> Result<u64, StorageError> {
            // Nothing is trimmed because of a position that can't be read.
            let first = skip_damaged("runs", "one at work", optional_position(&bounds, column))?;
            Ok(match first.unwrap_or(Some(Position(0))) {
                Some(first) => first.0.saturating_sub(1),
                None => u64::MAX,
            })
        };
        let unwanted = before_first("young")?.max(head.0.saturating_sub(keep));
        let last = Position(unwanted.min(before_first("run")?).min(end.0));
        if last <= trimmed {
            continue;
        }
        removed += query("DELETE FROM events WHERE user_id = $1 AND position <= $2")
            .bind_value(user)
            .bind_value(last)
            .execute(&mut *connection)
            .await?
            .rows_affected();
        // An update checks the types of all columns.
        query("UPDATE users SET trimmed = $2, position = iif(typeof(position) = 'integer', position, $3) WHERE id = $1")
            .bind_value(user)
            .bind_value(last)
            .bind_value(head)
            .execute(&mut *connection)
            .await?;
    }
    for forget in [
        "DELETE FROM intents WHERE created_at < $1",
        "DELETE FROM deleted_conversations WHERE deleted_at < $1",
    ] {
        query(forget).bind_value(before).execute(&mut *connection).await?;
    }
    query("COMMIT").execute(connection).await?;
    Ok(removed)
}
