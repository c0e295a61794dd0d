//! Redaction of the process's log: the last step before a line is written, whatever its source.

use std::{
    io::{self, Write},
    sync::OnceLock,
};

use super::Secrets;

/// The secrets of the settings, once they are read.
static LOG_SECRETS: OnceLock<Secrets> = OnceLock::new();

/// Redacts these secrets in the log from now on. Only the first call has an effect.
pub fn redact_log(secrets: Secrets) {
    // A process has one log and one set of settings.
    let _ = LOG_SECRETS.set(secrets);
}

/// A log writer to standard error that redacts secrets. Each call to `write` gets a whole line.
#[derive(Debug)]
pub struct RedactedStderr;

impl Write for RedactedStderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match LOG_SECRETS.get() {
            Some(secrets) => {
                let redacted = secrets.redact(&String::from_utf8_lossy(line));
                io::stderr().lock().write_all(redacted.as_bytes())?;
            }
            None => io::stderr().lock().write_all(line)?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
