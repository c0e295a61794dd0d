//! Errors of uploads as [`ApiError`]s: a stable code, and a message that says what happened and what to do.

use super::UploadError;
use parlor_protocol::{ApiError, ErrorCode, number_format::format_size};
use parlor_storage::{StorageError, StorageErrorKind};

impl From<UploadError> for ApiError {
    fn from(error: UploadError) -> Self {
        match error {
            UploadError::Empty => Self::new(ErrorCode::BadRequest, "This file is empty. It was not kept."),
            UploadError::TooLarge { limit } => Self::new(
                ErrorCode::TooLarge,
                format!(
                    "The file is larger than {} (setting files.max_bytes). It was not kept; attach a smaller one, or a part of it.",
                    format_size(limit)
                ),
            ),
            UploadError::NoRoom { used, limit } => Self::new(
                ErrorCode::NoRoom,
                format!(
                    "You have no room for this file: your files have {} of {} (setting files.user_bytes). It was not kept. Delete \
                     conversations with files, then attach it again.",
                    format_size(used),
                    format_size(limit)
                ),
            ),
            UploadError::TooManyPixels { limit } => Self::new(
                ErrorCode::TooLarge,
                format!(
                    "The image has more than {limit} pixels (setting files.max_pixels). It was not kept; make it smaller, then attach it again."
                ),
            ),
            UploadError::UnreadableImage => Self::new(
                ErrorCode::UnsupportedMediaType,
                "This image can't be read. It was not kept; attach it in another format.",
            ),
            UploadError::Unsupported(media_type) => Self::new(
                ErrorCode::UnsupportedMediaType,
                format!(
                    "You can't attach files of this type ({media_type}). It was not kept. Attach PNG, JPEG, GIF or WebP images, PDF \
                     files, workbooks, text documents, slides or texts."
                ),
            ),
            UploadError::QueueFull { limit } => Self::new(
                ErrorCode::TooManyRequests,
                format!(
                    "{limit} of your files wait to be read already, the limit (setting files.max_waiting). This one was not kept: \
                     attach it again in a moment."
                ),
            ),
            UploadError::CutOff => Self::new(
                ErrorCode::BadRequest,
                "The upload was cut off. Nothing of it was kept; attach the file again.",
            ),
            UploadError::Io(error) => {
                tracing::error!(%error, "a file can't be stored");
                match StorageError::from(error).kind() {
                    // Of several places, the log names the one.
                    StorageErrorKind::Other => Self::new(
                        ErrorCode::Unavailable,
                        "The file can't be stored just now: the place of the files (setting files.store) does not respond. It was not kept; \
                         attach it again in a moment. Parlor's log says more.",
                    ),
                    kind => kind.into(),
                }
            }
            UploadError::Storage(error) => error.into(),
            UploadError::Journal(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_place_that_does_not_respond_is_not_the_database() {
        let error = ApiError::from(UploadError::Io(io::Error::other("the bucket is away")));
        assert_eq!(error.code, ErrorCode::Unavailable);
        assert!(
            error.message.contains("files.store") && error.message.contains("not kept"),
            "{error:?}"
        );
        let error = ApiError::from(UploadError::Io(io::ErrorKind::StorageFull.into()));
        assert!(error.message.contains("disk is full"), "{error:?}");
    }
}
