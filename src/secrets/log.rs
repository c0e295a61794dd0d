//! The process's log without secrets: the last step before a line is written, whoever wrote it.

use std::{
    io::{self, Write},
    sync::OnceLock,
};

use super::Secrets;

/// Those of the settings, once they are read.
static LOG_SECRETS: OnceLock<Secrets> = OnceLock::new();

/// Keeps these secrets out of the log from now on. Only the first call counts.
pub fn redact_log(secrets: Secrets) {
    // A process has one log and one set of settings.
    let _ = LOG_SECRETS.set(secrets);
}

/// Writes the log to standard error. Each line comes in one piece.
#[derive(Debug)]
pub struct RedactedStderr;

impl Write for RedactedStderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match LOG_SECRETS.get() {
            Some(secrets) => {
                let hidden = secrets.redact(&String::from_utf8_lossy(line));
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
