//! Errors of runs and page contexts as [`ApiError`]s: a stable code, and a message that says what happened and what to do.

use super::turns::unknown_model_error;
use crate::{
    pages::ContextError,
    protocol::{ApiError, ErrorCode},
    runs::{StartError, StopError},
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
            StartError::Empty => Self::new(
                ErrorCode::BadRequest,
                "The message is empty: there is nothing to answer.",
            ),
            StartError::TooLong { length, limit } => Self::new(
                ErrorCode::TooLarge,
                format!(
                    "The message has {length} bytes; the limit is {limit} (setting limits.message_bytes)."
                ),
            ),
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
