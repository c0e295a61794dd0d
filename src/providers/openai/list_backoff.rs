//! A time for which a server has asked, by `Retry-After`, not to be asked again.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::model::{ModelError, ModelErrorKind};

/// The longest time that is heeded.
const MAX_BACKOFF: Duration = Duration::from_secs(600);

/// Until when, and the error that said so.
#[derive(Debug, Default)]
pub struct ListBackoff(Mutex<Option<(Instant, ModelError)>>);

impl ListBackoff {
    /// The error to give instead of asking, while the time is not over.
    pub fn active_error(&self) -> Option<ModelError> {
        let quiet = self.lock();
        let (until, error) = quiet.as_ref()?;
        (Instant::now() < *until).then(|| error.clone())
    }

    /// Takes what came of asking.
    pub fn record(&self, error: Option<&ModelError>) {
        *self.lock() = error.and_then(|error| match error.kind {
            ModelErrorKind::Unavailable { after } => {
                Some((Instant::now() + after?.min(MAX_BACKOFF), error.clone()))
            }
            _ => None,
        });
    }

    fn lock(&self) -> MutexGuard<'_, Option<(Instant, ModelError)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
