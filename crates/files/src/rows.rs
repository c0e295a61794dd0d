//! Files with the rows of a result, which `databases` writes and reads. They belong to the message of their call, but only its
//! payload names them.

use std::{io, path::PathBuf};

use uuid::Uuid;

use super::{ContentForm, Files, UncommittedContent, UncommittedFile, contents::NewContent};
use parlor_protocol::{Attachment, AttachmentId, ConversationId, UserId};
use parlor_storage::{FileLocation, StorageError, StoredFile};

/// The media type of such a file. Uploads never get it.
const STORED_ROWS: &str = "application/x-parlor-rows";
/// The name under which programs get it.
const FILE_NAME: &str = "rows.sqlite3";

/// A file that is to be written. Dropping it deletes it.
pub struct NewRows {
    content: NewContent,
    guard: UncommittedContent,
    path: PathBuf,
    location: FileLocation,
}

impl Files {
    /// Creates an empty file for rows.
    ///
    /// # Errors
    ///
    /// If the folder can't be written.
    pub async fn begin_rows(&self, user_id: UserId, conversation_id: ConversationId) -> io::Result<NewRows> {
        let location = FileLocation {
            user_id,
            conversation_id,
            stored_name: Uuid::new_v4(),
        };
        let guard = UncommittedContent::new(self.0.clone(), location);
        let content = self.0.contents.create(location, ContentForm::Original).await?;
        Ok(NewRows {
            content,
            guard,
            path: self.0.contents.path(location, ContentForm::Original),
            location,
        })
    }

    /// Returns the path of a file with rows; `None` if it does not exist, or is another file.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn rows_path(
        &self,
        user_id: UserId,
        id: AttachmentId,
    ) -> Result<Option<PathBuf>, StorageError> {
        let file = self
            .find(user_id, id)
            .await?
            .filter(|file| has_rows(&file.attachment));
        Ok(match file {
            Some(file) => {
                let local = self.0.contents.local_path(file.location, ContentForm::Original);
                Some(local.await?)
            }
            None => None,
        })
    }
}

impl NewRows {
    /// Returns the path at which the rows are to be written.
    pub fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Brings the written file to the disk.
    ///
    /// # Errors
    ///
    /// If that fails.
    pub async fn finish(self) -> io::Result<UncommittedFile> {
        self.content.keep().await?;
        let bytes = tokio::fs::metadata(&self.path).await?.len();
        let attachment = Attachment {
            id: AttachmentId::new(),
            name: FILE_NAME.into(),
            media_type: STORED_ROWS.into(),
            bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
            width: None,
            height: None,
            text_bytes: None,
            problem: None,
        };
        let file = StoredFile {
            attachment,
            location: self.location,
        };
        Ok(UncommittedFile {
            file,
            content: self.guard,
        })
    }
}

/// Returns true if a file has the rows of a result.
pub fn has_rows(file: &Attachment) -> bool {
    file.media_type == STORED_ROWS
}
