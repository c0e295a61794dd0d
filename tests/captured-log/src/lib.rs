//! A captured log for tests.

use std::{io, sync::Arc};

use parking_lot::Mutex;
use tracing::subscriber::DefaultGuard;

/// The log output of this thread, and so of all tasks of a single-threaded runtime.
#[derive(Clone, Default)]
pub struct CapturedLog(Arc<Mutex<Vec<u8>>>);

impl CapturedLog {
    /// Captures the log until the guard is dropped.
    pub fn capture() -> (Self, DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone());
        (log, tracing::subscriber::set_default(subscriber.finish()))
    }

    pub fn contains(&self, text: &str) -> bool {
        self.count(text) > 0
    }

    /// Counts the occurrences of a text.
    pub fn count(&self, text: &str) -> usize {
        let output = self.0.lock();
        String::from_utf8_lossy(&output).matches(text).count()
    }
}

impl io::Write for CapturedLog {
    fn write(&mut self, output: &[u8]) -> io::Result<usize> {
        let mut log = self.0.lock();
        io::Write::write(&mut *log, output)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
