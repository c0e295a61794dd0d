//! The backoff of model list requests after a `Retry-After`.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use parlor_model::{ModelError, ModelErrorKind};

/// The longest delay that is honoured.
const MAX_BACKOFF: Duration = Duration::from_secs(600);

/// The end of the delay, and the error that requested it.
#[derive(Debug, Default)]
pub struct ListBackoff(Mutex<Option<(Instant, ModelError)>>);

impl ListBackoff {
    /// Returns the error to report instead of sending a request during the delay.
    pub fn active_error(&self) -> Option<ModelError> {
        let backoff = self.0.lock();
        let (until, error) = backoff.as_ref()?;
        (Instant::now() < *until).then(|| error.clone())
    }

    /// Records the result of a request.
    pub fn record(&self, error: Option<&ModelError>) {
        *self.0.lock() = error.and_then(|error| match error.kind {
            ModelErrorKind::Unavailable { after } => {
                Some((Instant::now() + after?.min(MAX_BACKOFF), error.clone()))
            }
            _ => None,
        });
    }
}
