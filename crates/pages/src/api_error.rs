//! Errors of page contexts as [`ApiError`]s: a stable code, and a message that says what happened and what to do.

use super::ContextError;
use parlor_protocol::{ApiError, ErrorCode};

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
