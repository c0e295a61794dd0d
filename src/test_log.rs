//! What tests read of the log.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use tracing::subscriber::DefaultGuard;

/// What this thread says to the log, and so all tasks of a runtime that has only this one.
#[derive(Clone, Default)]
pub(crate) struct CapturedLog(Arc<Mutex<Vec<u8>>>);

impl CapturedLog {
    /// Listens until the guard is dropped.
    pub fn capture() -> (Self, DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone());
        (log, tracing::subscriber::set_default(subscriber.finish()))
    }

    pub fn contains(&self, words: &str) -> bool {
        self.count(words) > 0
    }

    /// How often it says that.
    pub fn count(&self, words: &str) -> usize {
        let said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&said).matches(words).count()
    }
}

impl io::Write for CapturedLog {
    fn write(&mut self, said: &[u8]) -> io::Result<usize> {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        io::Write::write(&mut *log, said)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
