//! What runs make besides their messages: payloads for the panel, and files.

use sqlx::SqliteConnection;

use super::{Batch, ChangeError};
use crate::{
    protocol::{AssistantMessage, Part, Payload, PayloadRef},
    storage::{Outcome, RunKey, StoredAttachment},
};

impl Batch {
    /// Keeps something for the panel.
    pub(super) async fn store_payload(
        &mut self,
        connection: &mut SqliteConnection,
        run: &RunKey,
        payload: &Payload,
    ) -> Result<Outcome, ChangeError> {
        sqlx::query(
            "INSERT INTO payloads (user_id, conversation_id, id, message_id, kind, summary, data, created_at) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(run.user_id.to_string())
        .bind(run.conversation_id.to_string())
        .bind(&payload.payload_id)
        .bind(run.message_id.to_string())
        .bind(&payload.kind)
        .bind(&payload.summary)
        .bind(payload.data.as_str())
        .bind(self.at.0)
        .execute(connection)
        .await?;
        Ok(Outcome::Done)
    }

    /// Keeps a file.
    pub(super) async fn store_attachment(
        &mut self,
        connection: &mut SqliteConnection,
        run: &RunKey,
        StoredAttachment { attachment, data }: &StoredAttachment,
    ) -> Result<Outcome, ChangeError> {
        sqlx::query(
            "INSERT INTO attachments (id, user_id, conversation_id, message_id, name, media_type, data, created_at) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(attachment.id.to_string())
        .bind(run.user_id.to_string())
        .bind(run.conversation_id.to_string())
        .bind(run.message_id.to_string())
        .bind(&attachment.name)
        .bind(&attachment.media_type)
        .bind(&**data)
        .bind(self.at.0)
        .execute(connection)
        .await?;
        Ok(Outcome::Done)
    }
}

/// Lets go of what a run has made, but for what is named.
pub(super) const DELETE_UNSHOWN: &str = "DELETE FROM payloads WHERE user_id = ?1 AND message_id = ?2 \
         AND id NOT IN (SELECT value FROM json_each(?3)); \
     DELETE FROM attachments WHERE user_id = ?1 AND message_id = ?2 \
         AND id NOT IN (SELECT value FROM json_each(?4))";

/// Lets go of what a run has kept and its message does not name: its tool had ended, and then the run before that was said.
/// Nobody was shown it, and so the model must not be told of it either.
pub(super) async fn delete_unshown(
    connection: &mut SqliteConnection,
    run: &RunKey,
    message: &AssistantMessage,
) -> Result<(), ChangeError> {
    let payloads: Vec<&str> = shown_payloads(message)
        .map(|payload| &*payload.payload_id)
        .collect();
    let files = message.tool_calls().flat_map(|call| &call.attachments);
    let files: Vec<String> = files.map(|file| file.id.to_string()).collect();
    sqlx::query(DELETE_UNSHOWN)
        .bind(run.user_id.to_string())
        .bind(run.message_id.to_string())
        .bind(serde_json::to_string(&payloads)?)
        .bind(serde_json::to_string(&files)?)
        .execute(connection)
        .await?;
    Ok(())
}

/// The payloads that a message shows.
fn shown_payloads(message: &AssistantMessage) -> impl Iterator<Item = &PayloadRef> {
    let parts = message.nodes.iter().flat_map(|node| &node.parts);
    parts.filter_map(|part| match part {
        Part::Payload { payload } => Some(payload),
        Part::ToolCall(call) => call.payload.as_ref(),
        Part::Thinking { .. } | Part::Text { .. } => None,
    })
}
