//! Captures of the server's log and of panics during an attack.

use std::{
    io,
    panic::{self, PanicHookInfo},
    sync::Arc,
};

use parking_lot::Mutex;
use tracing::{Level, subscriber::DefaultGuard};

/// A capture of this thread's log, which includes all tasks of a single-threaded runtime.
#[derive(Clone)]
pub struct LogCapture {
    lines: SharedBuffer,
    _guard: Arc<DefaultGuard>,
}

#[derive(Clone, Default)]
struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl SharedBuffer {
    fn text(&self) -> String {
        let said = self.0.lock();
        String::from_utf8_lossy(&said).into_owned()
    }
}

impl io::Write for SharedBuffer {
    fn write(&mut self, said: &[u8]) -> io::Result<usize> {
        io::Write::write(&mut *self.0.lock(), said)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl LogCapture {
    /// Captures log lines of at least this level until it is dropped.
    pub fn start(level: Level) -> Self {
        let said = SharedBuffer::default();
        let writer = said.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_max_level(level)
            .with_writer(move || writer.clone());
        let listening = tracing::subscriber::set_default(subscriber.finish());
        Self {
            lines: said,
            _guard: Arc::new(listening),
        }
    }

    pub fn text(&self) -> String {
        self.lines.text()
    }
}

/// A capture of panics outside of tests.
#[derive(Clone, Default)]
pub struct PanicCapture(SharedBuffer);

impl PanicCapture {
    /// Starts the capture. The existing panic hook still runs.
    pub fn start() -> Self {
        let panics = Self::default();
        let (before, heard) = (panic::take_hook(), panics.clone());
        panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            if !info
                .location()
                .is_some_and(|place| place.file().contains("tests/"))
            {
                let _ = io::Write::write_all(&mut heard.0.clone(), format!("{info}\n").as_bytes());
            }
            before(info);
        }));
        panics
    }

    pub fn has_panicked(&self) -> bool {
        !self.text().is_empty()
    }

    pub fn text(&self) -> String {
        self.0.text()
    }
}
