//! Queries about attachments.

use sqlx::{Row, SqliteConnection};

use super::text;
use crate::{
    protocol::{Attachment, AttachmentId, UserId},
    storage::{StorageError, StoredAttachment},
};

/// Returns an attachment with its content.
pub(super) async fn attachment(
    connection: &mut SqliteConnection,
    user_id: UserId,
    id: AttachmentId,
) -> Result<Option<StoredAttachment>, StorageError> {
    let row = sqlx::query("SELECT name, media_type, data FROM attachments WHERE user_id = ? AND id = ?")
        .bind(user_id.to_string())
        .bind(id.to_string())
        .fetch_optional(connection)
        .await?;
    row.map(|row| {
        let data: Vec<u8> = row.try_get("data")?;
        Ok(StoredAttachment {
            attachment: Attachment {
                id,
                name: text(&row, "name")?,
                media_type: text(&row, "media_type")?,
                bytes: data.len(),
            },
            data: data.into(),
        })
    })
    .transpose()
}
