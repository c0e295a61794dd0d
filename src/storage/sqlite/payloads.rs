//! The queries about payloads.

use sqlx::{Row, SqliteConnection, sqlite::SqliteRow};

use crate::{
    protocol::{ConversationId, Json, Judged, Payload, UserId, Verdict},
    storage::StorageError,
};

/// One payload, with what is in it.
pub(super) async fn payload(
    connection: &mut SqliteConnection,
    user_id: UserId,
    conversation_id: ConversationId,
    payload_id: &str,
) -> Result<Option<Payload>, StorageError> {
    let row = sqlx::query(
        "SELECT id, kind, summary, data FROM payloads WHERE user_id = ? AND conversation_id = ? AND id = ?",
    )
    .bind(user_id.to_string())
    .bind(conversation_id.to_string())
    .bind(payload_id)
    .fetch_optional(connection)
    .await?;
    row.map(|row| {
        Ok(Payload {
            payload_id: row.try_get("id")?,
            kind: row.try_get("kind")?,
            summary: row.try_get("summary")?,
            data: Json::or_string(row.try_get("data")?),
        })
    })
    .transpose()
}

/// What the person has accepted and rejected, in the order in which they did.
pub(super) async fn verdicts(
    connection: &mut SqliteConnection,
    user_id: UserId,
    conversation_id: ConversationId,
) -> Result<Vec<Judged>, StorageError> {
    let rows = sqlx::query(
        "SELECT payload_id, verdict FROM payload_verdicts WHERE user_id = ? AND conversation_id = ? ORDER BY position",
    )
    .bind(user_id.to_string())
    .bind(conversation_id.to_string())
    .fetch_all(connection)
    .await?;
    let judged = |row: &SqliteRow| {
        let verdict: &str = row.try_get("verdict")?;
        Ok(Judged {
            payload_id: row.try_get("payload_id")?,
            verdict: if verdict == Verdict::Accepted.as_str() {
                Verdict::Accepted
            } else {
                Verdict::Rejected
            },
        })
    };
    rows.iter().map(judged).collect()
}
