//! Uploads: a file of the user, streamed to the data folder, before the message that it belongs to is sent.

use std::io;

use bytes::Bytes;
use futures::{Stream, StreamExt};
use uuid::Uuid;

use super::{
    ContentForm, Files, Inner, UncommittedContent, is_image,
    media_type::{
        Detected, HEAD_BYTES, TextCheck, detect, is_notebook, is_table, is_workbook_name, text_type,
    },
    prepare::PrepareError,
    reader::document::Container,
    reader_queue::Origin,
};
use parlor_base::crash_point;
use parlor_base::text::{is_format_mark, truncate_chars};
use parlor_journal::JournalError;
use parlor_protocol::{Attachment, AttachmentId, ConversationId, FileProblem, ProjectId, UserId};
use parlor_storage::{Change, FileChange, FileLocation, StorageError, StoredFile, projects::ProjectChange};

/// The maximum length of a file's name, in characters.
const MAX_NAME_CHARS: usize = 120;

/// The reason why an upload was not kept.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    #[error("the file is empty")]
    Empty,
    #[error("the file has more than {limit} bytes")]
    TooLarge { limit: usize },
    #[error("{used} of {limit} bytes are used")]
    NoRoom {
        /// The size of the stored files, in bytes.
        used: usize,
        limit: usize,
    },
    #[error("the image has more than {limit} pixels")]
    TooManyPixels { limit: usize },
    #[error("the image can't be read")]
    UnreadableImage,
    #[error("files of the type {0} can't be used")]
    Unsupported(&'static str),
    #[error("{limit} uploads of the user wait already")]
    QueueFull {
        /// The maximum number of waiting uploads.
        limit: usize,
    },
    #[error("the upload was cut off")]
    CutOff,
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Storage(StorageError),
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// The owner of an uploaded file.
#[derive(Clone, Copy, Debug)]
pub enum FileOwner {
    /// A message that will be sent in this conversation.
    Conversation(ConversationId),
    Project {
        id: ProjectId,
        /// The id of the file, which the client has chosen: the same upload again stores nothing.
        file_id: Option<AttachmentId>,
        /// The number of files of one project.
        max_files: usize,
        /// The text of a document that is read, in bytes.
        text_bytes: usize,
    },
}

/// The beginning of an upload.
#[derive(Debug)]
pub struct UploadHead<'a> {
    pub user_id: UserId,
    pub owner: FileOwner,
    pub name: &'a str,
    /// The size in bytes, if the request names it.
    pub length: Option<u64>,
}

impl Files {
    /// Stores an upload. That of a message stays if it is sent in time.
    ///
    /// # Errors
    ///
    /// If the upload is cut off, empty, over a limit or of an unsupported type, or storing fails. Nothing of it is kept.
    pub async fn upload<E>(
        &self,
        head: UploadHead<'_>,
        mut body: impl Stream<Item = Result<Bytes, E>> + Unpin,
    ) -> Result<Attachment, UploadError> {
        let UploadHead {
            user_id,
            owner,
            name,
            length,
        } = head;
        let (conversation_id, text_bytes) = match owner {
            FileOwner::Conversation(id) => (id, self.0.settings.text_bytes),
            FileOwner::Project { text_bytes, .. } => (ConversationId::NONE, text_bytes),
        };
        let location = FileLocation {
            user_id,
            conversation_id,
            stored_name: Uuid::new_v4(),
        };
        let mut counted = self.0.begin_upload(user_id, length).await?;
        // The server drops this future when the client goes away.
        let guard = UncommittedContent::new(self.0.clone(), location);
        let mut content = self.0.contents.create(location, ContentForm::Original).await?;
        let (mut beginning, mut bytes) = (Vec::new(), 0_usize);
        let mut text_check = TextCheck::default();
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(|_| UploadError::CutOff)?;
            counted.add(chunk.len())?;
            bytes += chunk.len();
            let missing = HEAD_BYTES.saturating_sub(beginning.len()).min(chunk.len());
            beginning.extend_from_slice(&chunk[..missing]);
            text_check.push(&chunk);
            content.write(&chunk).await?;
        }
        if bytes == 0 {
            return Err(UploadError::Empty);
        }
        counted.check_stored().await?;
        let (media_type, container) = match detect(&beginning) {
            Detected::Image(media_type) => (media_type, None),
            Detected::Document(container) => (container.media_type(), Some(container)),
            Detected::Data(media_type) => (media_type, None),
            Detected::MaybeText => {
                let media_type = text_type(name);
                let container = match text_check.is_text() {
                    _ if is_table(media_type) => Some(Container::Table),
                    _ if is_workbook_name(name) => Some(Container::WorkbookText),
                    _ if is_notebook(name) => Some(Container::Notebook),
                    true => None,
                    false => Some(Container::Text),
                };
                (media_type, container)
            }
            Detected::Unusable(media_type) => Err(UploadError::Unsupported(media_type))?,
        };
        let chosen_id = match owner {
            FileOwner::Project { file_id, .. } => file_id,
            FileOwner::Conversation(_) => None,
        };
        let mut attachment = Attachment {
            id: chosen_id.unwrap_or_else(AttachmentId::new),
            name: file_name(name),
            media_type: media_type.to_owned(),
            bytes,
            width: None,
            height: None,
            text_bytes: None,
            problem: None,
        };
        content.keep().await?;
        match container {
            Some(container) => {
                let document = UploadedDocument {
                    container,
                    is_utf8: text_check.is_text(),
                    text_bytes,
                };
                self.0.read_document(location, document, &mut attachment).await?;
            }
            None if is_image(&attachment) => self.0.read_image(location, &mut attachment).await?,
            None => {}
        }
        crash_point!("files::written");
        let file = StoredFile {
            attachment: attachment.clone(),
            location,
        };
        let change = match owner {
            FileOwner::Conversation(_) => Change::File(FileChange::StoreUpload { file }),
            FileOwner::Project { id, max_files, .. } => {
                let change = ProjectChange::AddFile {
                    project_id: id,
                    file: Box::new(file),
                    limit: max_files,
                };
                Change::Project { user_id, change }
            }
        };
        guard.commit(change).await?;
        Ok(attachment)
    }
}

/// A document that was uploaded.
struct UploadedDocument {
    container: Container,
    /// True for a text in UTF-8.
    is_utf8: bool,
    /// The text that is read, in bytes.
    text_bytes: usize,
}

impl Inner {
    async fn read_image(&self, location: FileLocation, file: &mut Attachment) -> Result<(), UploadError> {
        let origin = Origin::Upload(location.user_id);
        let (width, height) = self
            .prepare_image(location, origin)
            .await
            .map_err(|error| self.upload_error(error))?;
        (file.width, file.height) = (Some(width), Some(height));
        Ok(())
    }

    fn upload_error(&self, error: PrepareError) -> UploadError {
        match error {
            PrepareError::TooManyPixels => UploadError::TooManyPixels {
                limit: self.settings.max_pixels,
            },
            PrepareError::Unreadable | PrepareError::TimedOut | PrepareError::TooLarge { .. } => {
                UploadError::UnreadableImage
            }
            PrepareError::QueueFull { limit } => UploadError::QueueFull { limit },
            PrepareError::Io(error) => error.into(),
        }
    }

    /// Reads a document. One that can't be read is kept all the same, for the user and for tools.
    async fn read_document(
        &self,
        location: FileLocation,
        document: UploadedDocument,
        file: &mut Attachment,
    ) -> Result<(), UploadError> {
        let UploadedDocument {
            container,
            is_utf8,
            text_bytes,
        } = document;
        let found = self
            .prepare_document(location, (container, text_bytes), &file.name)
            .await;
        let found = found.map_err(|error| self.upload_error(error))?;
        match (found.media_type, container) {
            // Its name says more of a text than its content.
            (Some(_), Container::Text) => {}
            (Some(media_type), _) => file.media_type = media_type,
            // Its beginning is sent as it is.
            (None, Container::Table | Container::WorkbookText | Container::Notebook)
                if is_utf8 && found.problem == Some(FileProblem::TooComplex) =>
            {
                return Ok(());
            }
            (None, Container::Text) if found.problem == Some(FileProblem::TooComplex) => {}
            (None, _) => Err(UploadError::Unsupported(container.media_type()))?,
        }
        (file.text_bytes, file.problem) = (found.text_bytes, found.problem);
        Ok(())
    }
}

/// Returns a name for display and for saving: one line, without parts of a path.
fn file_name(given: &str) -> String {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let fit = |c: char| {
        if c.is_control() || "<>:\"|?*".contains(c) {
            '_'
        } else {
            c
        }
    };
    // A mark that turns the text after it lets a program look like a picture.
    let name: String = last.chars().filter(|c| !is_format_mark(*c)).map(fit).collect();
    let name = name.trim_matches([' ', '.']);
    match truncate_chars(name, MAX_NAME_CHARS) {
        name if name.is_empty() => "file".into(),
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn names_have_no_path() {
        for (given, expected) in [
            ("a.png", "a.png"),
            ("../../etc/passwd", "passwd"),
            ("C:\\pictures\\a b.png", "a b.png"),
            ("a\"\r\nb.png", "a___b.png"),
            (" .. ", "file"),
            ("", "file"),
            ("Übersicht (2).png", "Übersicht (2).png"),
            // Marks that turn or hide what is after them.
            ("photo\u{202e}gnp.exe", "photognp.exe"),
            ("a\u{2066}b\u{2069}\u{200f}\u{61c}.txt", "ab.txt"),
            ("a\u{feff}\u{200b}\u{2060}\u{ad}.txt", "a.txt"),
            ("a\u{e0041}\u{2028}\u{2029}b.txt", "ab.txt"),
            ("a\u{85}\u{0}\u{7f}.txt", "a___.txt"),
            ("\u{202e}", "file"),
            // Joiners are letters' own.
            ("می\u{200c}خواهم.txt", "می\u{200c}خواهم.txt"),
        ] {
            assert_eq!(file_name(given), expected, "{given:?}");
        }
    }
}
