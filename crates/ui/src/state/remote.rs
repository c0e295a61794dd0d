//! A server value and its loading state.

use parlor_protocol::ApiError;

/// A value that is loaded from the server.
#[derive(Clone, Debug)]
pub enum Remote<T> {
    /// The value is not needed at present.
    NotRequested,
    Loading,
    Ready(T),
    Failed(ApiError),
}

impl<T> From<Result<T, ApiError>> for Remote<T> {
    fn from(outcome: Result<T, ApiError>) -> Self {
        match outcome {
            Ok(loaded) => Self::Ready(loaded),
            Err(error) => Self::Failed(error),
        }
    }
}

impl<T> Remote<T> {
    /// Creates the value from the page's snapshot, if it is wanted there.
    pub fn from_snapshot(is_wanted: bool, given: Option<Result<T, ApiError>>) -> Self {
        match given {
            Some(outcome) => outcome.into(),
            None if is_wanted => Self::Loading,
            None => Self::NotRequested,
        }
    }
}
