//! The move of tools' files out of the database, where earlier versions stored their contents.

use super::Files;
use crate::storage::{AttachmentRow, Change, StorageError};

impl Files {
    /// Moves all contents that are still in the database to the folder of files. After a crash, the next start continues.
    ///
    /// # Errors
    ///
    /// If the database or the folder does not work.
    pub async fn move_attachment_rows(&self) -> Result<(), StorageError> {
        let mut count = 0_usize;
        while let Some(row) = self.0.storage.next_attachment_row().await? {
            let AttachmentRow {
                file,
                message_id,
                data,
            } = row;
            let file = self.write_tool_file(file, &data).await?;
            crash_point!("files::moved");
            let replace = |file| Change::ReplaceAttachmentRow { file, message_id };
            if let Err(error) = file.commit(replace).await {
                tracing::error!(%error, "the files of tools could not be moved; the next start continues");
                return Ok(());
            }
            count += 1;
        }
        if count > 0 {
            tracing::info!(count, "moved the files of tools out of the database");
        }
        Ok(())
    }
}
