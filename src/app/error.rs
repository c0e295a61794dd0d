//! Errors of runs and page contexts as [`ApiError`]s: a stable code, and a message that says what happened and what to do.

use super::turns::unknown_model_error;
use crate::{
    files::UploadError,
    pages::ContextError,
    protocol::{ApiError, ErrorCode, FileProblem, number_format::format_size},
    runs::{CallRefusal, FileNotTaken, StartError, StopError},
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
                    "Your message is too long: {length} of at most {limit} bytes (setting limits.message_bytes). Nothing was sent; \
                     shorten it, or attach a part of it as a file."
                ),
            ),
            StartError::TooManyFiles { count, limit } => Self::new(
                ErrorCode::TooLarge,
                format!(
                    "Your message has {count} files, more than {limit} (setting files.max_count). Nothing was sent; remove some."
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
            StartError::Refused(refusal) => refused(&refusal),
            StartError::Parameters(wrong) => invalid_parameters(&wrong),
            StartError::ShuttingDown => Self::new(
                ErrorCode::Unavailable,
                "Parlor is shutting down. Nothing was sent; send it again when it is back.",
            ),
            StartError::Context(error) => error.into(),
            StartError::Journal(error) => error.into(),
        }
    }
}

fn refused(refusal: &CallRefusal) -> ApiError {
    let code = match refusal {
        CallRefusal::Model { .. } => ErrorCode::ModelNotAllowed,
        CallRefusal::Tokens { .. } | CallRefusal::Cost { .. } | CallRefusal::Runs { .. } => {
            ErrorCode::LimitReached
        }
    };
    let message = format!(
        "{} Nothing was sent or changed; what you wrote is kept. {}",
        refusal.reason(),
        refusal.advice()
    );
    let wait = refusal.retry_after();
    ApiError::new(code, message).with_retry_after(wait.map(|wait| wait.as_secs().max(1)))
}

/// The maximum number of models that the error about a file lists.
const MAX_LISTED_ALTERNATIVES: usize = 5;

fn file_not_taken(file: &FileNotTaken) -> ApiError {
    let FileNotTaken {
        name,
        is_image,
        problem,
        model,
        others,
    } = file;
    let what = if *is_image { "images" } else { "PDF files" };
    let refused = match problem {
        Some(FileProblem::NoText) => {
            format!("{name} has no text, only images, and {model} does not read {what}.")
        }
        Some(_) => format!("No text of {name} could be read, and {model} does not read {what}."),
        None => format!("{model} does not read {what}, such as {name}."),
    };
    let others = match others.as_slice() {
        [] => format!("No listed model is known to read {what}."),
        others => format!(
            "These do: {}.",
            others[..others.len().min(MAX_LISTED_ALTERNATIVES)].join(", ")
        ),
    };
    ApiError::new(
        ErrorCode::FileNotTaken,
        format!("{refused} {others} Nothing was sent: choose another model, or remove the file."),
    )
}

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
                StorageError::from(error).kind().into()
            }
            UploadError::Storage(error) => error.into(),
            UploadError::Journal(error) => error.into(),
        }
    }
}
