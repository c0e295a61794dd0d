//! The files with tables that a user has attached, in all conversations.

use super::{
    Files,
    media_type::{ODS, XLS, XLSB, XLSX},
};
use parlor_protocol::UserId;
use parlor_storage::{AttachedFile, FileKinds, StorageError};

/// The files among which those with tables are. `with_tables` decides: a text is one by its name and its content.
const KINDS: FileKinds<'static> = FileKinds {
    media_types: &["text/csv", "text/tab-separated-values", XLSX, XLSB, XLS, ODS],
    name_ends: &["json", "jsonl", "ndjson", "ods", "xls", "xlsb", "xlsm", "xlsx"],
};

/// The number of files that are looked at for one with tables.
const MAX_CANDIDATES: usize = 20;

impl Files {
    /// Returns the newest files with tables in a user's messages, at most `limit`, newest first.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn attached_tables(
        &self,
        user_id: UserId,
        limit: usize,
    ) -> Result<Vec<AttachedFile>, StorageError> {
        let mut attached = self.0.storage.attached_files(user_id, KINDS, limit).await?;
        let files: Vec<_> = attached
            .iter()
            .map(|attached| attached.file.attachment.clone())
            .collect();
        let with_tables = self.with_tables(user_id, &files).await;
        attached.retain(|attached| {
            with_tables
                .iter()
                .any(|file| file.id == attached.file.attachment.id)
        });
        Ok(attached)
    }

    /// Returns true if one of the newest files in a user's messages has tables.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn has_attached_tables(&self, user_id: UserId) -> Result<bool, StorageError> {
        let candidates = self
            .0
            .storage
            .attached_files(user_id, KINDS, MAX_CANDIDATES)
            .await?;
        for candidate in candidates {
            if !self
                .with_tables(user_id, &[candidate.file.attachment])
                .await
                .is_empty()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
