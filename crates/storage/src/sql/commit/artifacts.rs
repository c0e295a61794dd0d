//! The artifacts of runs besides their messages: stores payloads for the panel, and deletes the payloads and files that the
//! stored answer does not name.

use crate::sql::database::{Connection, query};

use super::{Batch, ChangeError};
use crate::{Outcome, RunKey};
use parlor_protocol::{AssistantMessage, Part, Payload, PayloadRef};

impl Batch<'_> {
    /// Stores a payload.
    pub(super) async fn store_payload(
        &mut self,
        connection: &mut Connection,
        run: &RunKey,
        payload: &Payload,
    ) -> Result<Outcome, ChangeError> {
        query(
            "INSERT INTO payloads (user_id, conversation_id, id, message_id, kind, summary, data, created_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind_value(run.user_id)
        .bind_value(run.conversation_id)
        .bind(&payload.payload_id)
        .bind_value(run.message_id)
        .bind(&payload.kind)
        .bind(&payload.summary)
        .bind(payload.data.as_str())
        .bind_value(self.at)
        .execute(connection)
        .await?;
        Ok(Outcome::Done)
    }
}

/// Deletes the payloads and files of a run except those named, and the files that the payloads name.
const DELETE_UNSHOWN: &str = "DELETE FROM payloads WHERE user_id = $1 AND message_id = $2 \
         AND id NOT IN (SELECT value FROM json_each($3)); \
     DELETE FROM files WHERE user_id = $1 AND message_id = $2 \
         AND id NOT IN (SELECT value FROM json_each($4)) \
         AND NOT EXISTS (SELECT 1 FROM payloads p WHERE p.user_id = $1 AND p.message_id = $2 AND p.kind = 'table' \
             AND files.id = CASE WHEN json_valid(p.data) THEN p.data ->> '$.stored.file' END)";

/// Deletes the artifacts that a run stored and its message does not name: the run ended between the tool's
/// end and the event about it. The user has not seen them, so the model must not get them either. Returns true if there were any.
pub(super) async fn delete_unshown(
    connection: &mut Connection,
    run: &RunKey,
    message: &AssistantMessage,
) -> Result<bool, ChangeError> {
    let payloads: Vec<&str> = shown_payloads(message)
        .map(|payload| &*payload.payload_id)
        .collect();
    let files: Vec<String> = message.files().map(|file| file.id.to_string()).collect();
    let deleted = query(DELETE_UNSHOWN)
        .bind_value(run.user_id)
        .bind_value(run.message_id)
        .bind_list(payloads)
        .bind_list(files)
        .execute(connection)
        .await?;
    Ok(deleted.rows_affected() > 0)
}

/// Returns the payloads that a message shows.
fn shown_payloads(message: &AssistantMessage) -> impl Iterator<Item = &PayloadRef> {
    let parts = message.nodes.iter().flat_map(|node| &node.parts);
    parts.filter_map(|part| match part {
        Part::Payload { payload } => Some(payload),
        Part::ToolCall(call) => call.payload.as_ref(),
        Part::Thinking { .. } | Part::Text { .. } | Part::File { .. } => None,
    })
}
