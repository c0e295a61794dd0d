//! Reads payloads, up to a byte limit, and the user's verdicts about them.

use crate::sql::database::{Connection, Row, query};

use super::{json, read_undamaged_rows, text};
use crate::{StorageError, damage::skip_damaged};
use parlor_protocol::{ConversationId, Payload, PayloadVerdict, RawJson, UserId, earlier_data};

/// Returns a payload with its content.
pub(super) async fn payload(
    connection: &mut Connection,
    user_id: UserId,
    conversation_id: ConversationId,
    payload_id: &str,
) -> Result<Option<Payload>, StorageError> {
    let row = query(
        "SELECT id, kind, summary, data FROM payloads WHERE user_id = $1 AND conversation_id = $2 AND id = $3",
    )
    .bind_value(user_id)
    .bind_value(conversation_id)
    .bind(payload_id)
    .fetch_optional(connection)
    .await?;
    let payload = row.map(|row| skip_damaged("payloads", payload_id, read_payload(&row)));
    Ok(payload.transpose()?.flatten())
}

/// The requested payloads in their order, up to the byte limit; the first one always. CROSS JOIN keeps the
/// planner from scanning all payloads of the conversation.
pub(crate) const SELECT_PAYLOADS: &str = "WITH wanted AS ( \
         SELECT w.key AS place, p.id, octet_length(p.data) AS own, sum(octet_length(p.data)) OVER (ORDER BY w.key) AS all_bytes \
         FROM json_each($3) w CROSS JOIN payloads p ON p.user_id = $1 AND p.conversation_id = $2 AND p.id = w.value) \
     SELECT p.id, p.kind, p.summary, p.data FROM wanted w CROSS JOIN payloads p ON p.conversation_id = $2 AND p.id = w.id \
         WHERE p.user_id = $1 AND (w.all_bytes <= $4 OR w.all_bytes = w.own) ORDER BY w.place";

pub(super) async fn payloads(
    connection: &mut Connection,
    user_id: UserId,
    conversation_id: ConversationId,
    ids: &[&str],
    bytes: usize,
) -> Result<Vec<Payload>, StorageError> {
    let rows = query(SELECT_PAYLOADS)
        .bind_value(user_id)
        .bind_value(conversation_id)
        .bind_list(ids)
        .bind_value(bytes)
        .fetch_all(connection)
        .await?;
    read_undamaged_rows("payloads", "id", &rows, read_payload)
}

fn read_payload(row: &Row) -> Result<Payload, StorageError> {
    Ok(Payload {
        payload_id: row.try_get("id")?,
        kind: earlier_data::payload_type(text(row, "kind")?),
        summary: text(row, "summary")?,
        data: RawJson::parse_or_quote(&text(row, "data")?),
    })
}

/// Returns the user's verdicts in the order in which they were given.
pub(super) async fn payload_verdicts(
    connection: &mut Connection,
    user_id: UserId,
    conversation_id: ConversationId,
) -> Result<Vec<PayloadVerdict>, StorageError> {
    let rows = query(
        "SELECT payload_id, verdict, fields FROM payload_verdicts WHERE user_id = $1 AND conversation_id = $2 ORDER BY position",
    )
    .bind_value(user_id)
    .bind_value(conversation_id)
    .fetch_all(connection)
    .await?;
    let judged = |row: &Row| {
        let payload_id: String = row.try_get("payload_id")?;
        // Damaged fields cost the details, not the verdict.
        let fields = match row.is_null("fields")? {
            true => None,
            false => skip_damaged("payload_verdicts", &payload_id, json(row, "fields"))?,
        };
        Ok(PayloadVerdict {
            verdict: serde_json::from_value(text(row, "verdict")?.into())?,
            payload_id,
            accepted_fields: fields.unwrap_or_default(),
        })
    };
    read_undamaged_rows("payload_verdicts", "payload_id", &rows, judged)
}
