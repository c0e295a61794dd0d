//! Uploads: a file of the user, streamed to the data folder, before the message that it belongs to is sent.

use std::io;

use bytes::Bytes;
use futures::{Stream, StreamExt};
use uuid::Uuid;

use super::{
    Files, Variant, is_image,
    media_type::{Detected, HEAD_BYTES, TextCheck, detect, text_type},
    prepare::PrepareError,
};
use crate::{
    journal::JournalError,
    protocol::{Attachment, AttachmentId, ConversationId, UserId},
    storage::{Change, FileLocation, StoredFile},
    text::truncate_chars,
};

/// The maximum length of a file's name, in characters.
const MAX_NAME_CHARS: usize = 120;

/// The reason why an upload was not kept.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    #[error("the file is empty")]
    Empty,
    #[error("the file has more than {limit} bytes")]
    TooLarge { limit: usize },
    #[error("the image has more than {limit} pixels")]
    TooManyPixels { limit: usize },
    #[error("the image can't be read")]
    UnreadableImage,
    #[error("files of the type {0} can't be used")]
    Unsupported(&'static str),
    #[error("the upload was cut off")]
    CutOff,
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl Files {
    /// Stores an upload. It stays if a message with it is sent in time.
    ///
    /// # Errors
    ///
    /// Then nothing of it is kept.
    pub async fn upload<E>(
        &self,
        (user_id, conversation_id): (UserId, ConversationId),
        name: &str,
        mut body: impl Stream<Item = Result<Bytes, E>> + Unpin,
    ) -> Result<Attachment, UploadError> {
        let limit = self.0.settings.max_bytes;
        let location = FileLocation {
            user_id,
            conversation_id,
            stored_name: Uuid::new_v4(),
        };
        let mut content = self.0.contents.create(location, Variant::Original).await?;
        let (mut head, mut bytes) = (Vec::new(), 0_usize);
        let mut text_check = TextCheck::default();
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(|_| UploadError::CutOff)?;
            bytes = bytes.saturating_add(chunk.len());
            if bytes > limit {
                return Err(UploadError::TooLarge { limit });
            }
            let missing = HEAD_BYTES.saturating_sub(head.len()).min(chunk.len());
            head.extend_from_slice(&chunk[..missing]);
            text_check.push(&chunk);
            content.write(&chunk).await?;
        }
        if bytes == 0 {
            return Err(UploadError::Empty);
        }
        let media_type = match detect(&head) {
            Detected::Known(media_type) => media_type,
            Detected::MaybeText if text_check.is_text() => text_type(name),
            Detected::MaybeText => Err(UploadError::Unsupported("application/octet-stream"))?,
            Detected::Unusable(media_type) => Err(UploadError::Unsupported(media_type))?,
        };
        let mut attachment = Attachment {
            id: AttachmentId::new(),
            name: file_name(name),
            media_type: media_type.to_owned(),
            bytes,
            width: None,
            height: None,
        };
        content.keep().await?;
        let stored = async {
            if is_image(&attachment) {
                let (width, height) = self.prepare_image(location).await.map_err(|error| match error {
                    PrepareError::TooManyPixels => UploadError::TooManyPixels {
                        limit: self.0.settings.max_pixels,
                    },
                    PrepareError::Unreadable | PrepareError::TimedOut => UploadError::UnreadableImage,
                    PrepareError::Io(error) => error.into(),
                })?;
                (attachment.width, attachment.height) = (Some(width), Some(height));
            }
            crash_point!("files::written");
            let file = StoredFile {
                attachment: attachment.clone(),
                location,
            };
            self.0.journal.submit(Change::StoreUpload { file }).await?;
            Ok(attachment)
        };
        let stored = stored.await;
        if stored.is_err()
            && let Err(error) = self.0.contents.delete(location).await
        {
            tracing::warn!(%error, "a file that was not kept could not be deleted; the next start deletes it");
        }
        stored
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
    let name: String = last.chars().map(fit).collect();
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
        ] {
            assert_eq!(file_name(given), expected, "{given:?}");
        }
    }
}
