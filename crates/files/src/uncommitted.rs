//! Files whose row is not committed yet. Their contents go with them unless the row is accepted.

use std::{path::PathBuf, sync::Arc};

use super::{ContentForm, Inner};
use parlor_journal::JournalError;
use parlor_protocol::{Attachment, AttachmentId};
use parlor_storage::{
    Change, ChangeRejection, FileLocation, RunKey, RunOutput, StorageErrorKind, StoredFile,
};

/// The content of a file without a row, in all its forms. Dropping it deletes them: its caller may go away at any time.
pub struct UncommittedContent {
    files: Arc<Inner>,
    location: FileLocation,
    /// False from the moment at which the row may be committed.
    is_deleted_on_drop: bool,
}

impl UncommittedContent {
    /// Guards the content at this location, which need not exist yet.
    pub(super) fn new(files: Arc<Inner>, location: FileLocation) -> Self {
        Self {
            files,
            location,
            is_deleted_on_drop: true,
        }
    }

    /// Commits the row, also if the caller goes away meanwhile. Deletes the content if the row is rejected. After another failure the row
    /// may be stored nevertheless, and the next start knows.
    pub(super) async fn commit(self, change: Change) -> Result<(), JournalError> {
        let mut content = self;
        // If the process ends meanwhile, the next start knows whether there is a row.
        content.is_deleted_on_drop = false;
        let committed = tokio::spawn(async move {
            let committed = content.files.journal.submit(change).await;
            if committed.as_ref().is_err_and(is_not_stored)
                && let Err(error) = content.files.contents.delete(content.location).await
            {
                tracing::warn!(%error, "a file that was not kept could not be deleted; the next start deletes it");
            }
            committed.map(|_| ())
        });
        let runtime_ended = JournalError::Unavailable(StorageErrorKind::Other);
        committed.await.map_err(|_| runtime_ended)?
    }
}

/// Returns true if a row was certainly not stored. Of a lost lease that is not known.
fn is_not_stored(error: &JournalError) -> bool {
    match error {
        JournalError::Rejected(rejection) => *rejection != ChangeRejection::FenceLost,
        JournalError::Unavailable(_) => false,
    }
}

impl Drop for UncommittedContent {
    fn drop(&mut self) {
        if self.is_deleted_on_drop
            && let Err(error) = self.files.contents.delete_now(self.location)
        {
            tracing::warn!(%error, "a file that was not kept could not be deleted; the next start deletes it");
        }
    }
}

/// A file that a tool or a model made, with a complete content and no row yet. Dropping it deletes the content.
pub struct UncommittedFile {
    pub(super) file: StoredFile,
    pub(super) content: UncommittedContent,
}

impl UncommittedFile {
    /// Returns the id that the file will have.
    pub fn id(&self) -> AttachmentId {
        self.file.attachment.id
    }

    /// Returns the size of its content.
    pub fn bytes(&self) -> usize {
        self.file.attachment.bytes
    }

    /// Returns the path of its content.
    pub fn path(&self) -> PathBuf {
        let contents = &self.content.files.contents;
        contents.path(self.file.location, ContentForm::Original)
    }

    /// Stores the file as one of a run's message.
    ///
    /// # Errors
    ///
    /// If the run has ended; then the content is deleted. If storage failed; then the next start deletes it, unless there is a row.
    pub async fn commit_for_run(self, run: RunKey) -> Result<Attachment, JournalError> {
        let attachment = self.file.attachment.clone();
        let store = |file| Change::Output {
            run,
            output: RunOutput::StoreAttachment { attachment: file },
        };
        self.commit(store).await?;
        Ok(attachment)
    }

    /// Commits the change that stores the file.
    pub(super) async fn commit(self, change: impl FnOnce(StoredFile) -> Change) -> Result<(), JournalError> {
        self.content.commit(change(self.file)).await
    }
}
