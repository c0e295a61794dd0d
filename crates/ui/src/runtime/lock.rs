//! A lock without poisoning, for state outside signals.

use std::sync::{MutexGuard, PoisonError};

/// A mutual exclusion lock. The one of `parking_lot`, which the server uses, would enlarge the WASM.
#[expect(clippy::disallowed_types, reason = "the only use of std's lock")]
#[derive(Debug, Default)]
pub struct Lock<T>(std::sync::Mutex<T>);

impl<T> Lock<T> {
    #[expect(clippy::disallowed_types, reason = "the only use of std's lock")]
    pub fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    /// Waits for the lock and returns its value. The value of a holder that panicked is kept.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
