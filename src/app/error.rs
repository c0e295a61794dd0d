//! Errors of runs and page contexts as [`ApiError`]s: a stable code, and a message that says what happened and what to do.

use super::turns::unknown_model_error;
use crate::{
    files::UploadError,
    pages::ContextError,
    protocol::{ApiError, ErrorCode},
    runs::{FileNotTaken, StartError, StopError},
    storage::{ChangeRejection, StorageError},
};

/// Returns the error for invalid parameters. It names each one and the reason.
pub fn invalid_parameters(wrong: &str) -> ApiError {
    ApiError::new(
        ErrorCode::InvalidParameters,
        format!("{wrong} Nothing was changed."),
    )
}

impl From<StopError> for ApiError {
    fn from(error: StopError) -> Self {
        match error {
            StopError::NotStored => Self::new(
                ErrorCode::Unavailable,
                "The answer is stopped, but Parlor can't store that just now. It will as soon as it can; the log says more.",
            ),
            StopError::Storage(error) => error.into(),
        }
    }
}

impl From<ContextError> for ApiError {
    fn from(error: ContextError) -> Self {
        let code = match error {
            ContextError::Storage(error) => return error.into(),
            ContextError::TooLarge { .. } => ErrorCode::TooLarge,
            ContextError::UnreadableField(_) => ErrorCode::BadRequest,
            _ => ErrorCode::InvalidContext,
        };
        Self::new(code, error.to_string())
    }
}

impl From<StartError> for ApiError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Empty => ChangeRejection::EmptyMessage.into(),
            StartError::TooLong { length, limit } => Self::new(
                ErrorCode::TooLarge,
                format!(
                    "The message has {length} bytes; the limit is {limit} (setting limits.message_bytes)."
                ),
            ),
            StartError::TooManyFiles { count, limit } => Self::new(
                ErrorCode::TooLarge,
                format!(
                    "The message has {count} files; the limit is {limit} (setting files.max_count). Nothing was sent: remove some."
                ),
            ),
            StartError::FileNotTaken(file) => file_not_taken(&file),
            StartError::UnknownTool { name, offered } => {
                let tools = match offered.as_slice() {
                    [] => "No tools are offered.".to_owned(),
                    offered => format!("The tools are: {}.", offered.join(", ")),
                };
                Self::new(
                    ErrorCode::UnknownTool,
                    format!("There is no tool “{name}” to be used. {tools}"),
                )
            }
            StartError::UnknownModel(unknown) => unknown_model_error(&unknown),
            StartError::Parameters(wrong) => invalid_parameters(&wrong),
            StartError::ShuttingDown => Self::new(ErrorCode::Unavailable, "Parlor is being stopped."),
            StartError::Context(error) => error.into(),
            StartError::Journal(error) => error.into(),
        }
    }
}

/// The maximum number of models that the error about a file lists.
const MAX_LISTED_MODELS: usize = 5;

fn file_not_taken(file: &FileNotTaken) -> ApiError {
    let FileNotTaken {
        name,
        is_image,
        model,
        others,
    } = file;
    let what = if *is_image { "images" } else { "PDF files" };
    let others = match others.as_slice() {
        [] => format!("No listed model is known to read {what}."),
        others => format!(
            "These do: {}.",
            others[..others.len().min(MAX_LISTED_MODELS)].join(", ")
        ),
    };
    ApiError::new(
        ErrorCode::FileNotTaken,
        format!(
            "{model} does not read {what}, such as {name}. {others} Nothing was sent: choose another model, or remove the file."
        ),
    )
}

impl From<UploadError> for ApiError {
    fn from(error: UploadError) -> Self {
        match error {
            UploadError::Empty => Self::new(ErrorCode::BadRequest, "The file is empty. It was not kept."),
            UploadError::TooLarge { limit } => Self::new(
                ErrorCode::TooLarge,
                format!(
                    "The file has more than {limit} bytes, the limit (setting files.max_bytes). It was not kept."
                ),
            ),
            UploadError::TooManyPixels { limit } => Self::new(
                ErrorCode::TooLarge,
                format!(
                    "The image has more than {limit} pixels, the limit (setting files.max_pixels). It was not kept: make it smaller."
                ),
            ),
            UploadError::UnreadableImage => Self::new(
                ErrorCode::UnsupportedMediaType,
                "The image is damaged or can't be read. It was not kept.",
            ),
            UploadError::Unsupported(media_type) => Self::new(
                ErrorCode::UnsupportedMediaType,
                format!(
                    "Files of this type ({media_type}) can't be used. It was not kept. PNG, JPEG, GIF and WebP images, PDF files, and \
                     text in UTF-8 can be."
                ),
            ),
            UploadError::CutOff => Self::new(
                ErrorCode::BadRequest,
                "The upload was cut off. Nothing of it was kept: send the file again.",
            ),
            UploadError::Io(error) => {
                tracing::error!(%error, "a file can't be stored");
                StorageError::from(error).kind().into()
            }
            UploadError::Journal(error) => error.into(),
        }
    }
}
