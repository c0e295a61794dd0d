//! The process's log without secrets: the last step before a line is written, whoever wrote it.

use std::{
    io::{self, Write},
    sync::OnceLock,
};

use super::Secrets;

/// Those of the settings, once they are read.
static KNOWN: OnceLock<Secrets> = OnceLock::new();

/// Keeps these secrets out of the log from now on. Only the first call counts.
pub fn keep_out(secrets: Secrets) {
    // A process has one log and one set of settings.
    let _ = KNOWN.set(secrets);
}

/// Writes the log to standard error. Each line comes in one piece.
#[derive(Debug)]
pub struct Stderr;

impl Write for Stderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match KNOWN.get() {
            Some(secrets) => {
                let hidden = secrets.hide(&String::from_utf8_lossy(line));
                io::stderr().lock().write_all(hidden.as_bytes())?;
            }
            None => io::stderr().lock().write_all(line)?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
