//! The move of tools' files out of the database, where earlier versions stored their contents.

use super::Files;
use parlor_base::crash_point;
use parlor_storage::{AttachmentRow, Change, FileChange, StorageError, StorageErrorKind};

impl Files {
    /// Moves all contents that are still in the database to the folder of files. After a crash, the next start continues.
    ///
    /// # Errors
    ///
    /// If the database or the folder does not work.
    pub async fn move_attachment_rows(&self) -> Result<(), StorageError> {
        let mut count = 0_usize;
        loop {
            let row = match self.0.storage.next_attachment_row().await {
                Ok(Some(row)) => row,
                Ok(None) => break,
                // What can't be read can't be moved. Everything else works.
                Err(error) if error.kind() == StorageErrorKind::Damaged => {
                    tracing::error!(%error, "files of tools in the database can't be read");
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            let AttachmentRow {
                file,
                message_id,
                data,
            } = row;
            let file = self.write_tool_file(file, &data).await?;
            crash_point!("files::moved");
            let replace = |file| Change::File(FileChange::ReplaceAttachmentRow { file, message_id });
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
