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

/// Redacts another secret in the log from now on, once the log has those of the settings.
pub fn redact_in_log(secret: &str) {
    if let Some(secrets) = LOG_SECRETS.get() {
        secrets.add(secret);
    }
}

/// Returns a text without the secrets that are known so far.
pub fn redact(text: &str) -> String {
    let secrets = LOG_SECRETS.get();
    secrets.map_or_else(|| text.to_owned(), |secrets| secrets.redact(text))
}

/// Writes a line to standard error as it is. One that can't be written is lost.
pub fn write_line(line: &str) {
    // One write, so that lines of other processes do not get into it.
    let _ = io::stderr().lock().write_all(format!("{line}\n").as_bytes());
}

/// A log writer to standard error that redacts secrets. Each call to `write` gets a whole line. A line that can't be
/// written is lost, and nothing else: the reader of the log may have died.
#[derive(Debug)]
pub struct RedactedStderr;

impl Write for RedactedStderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let redacted = LOG_SECRETS
            .get()
            .map(|secrets| secrets.redact(&String::from_utf8_lossy(line)));
        let written = redacted.as_ref().map_or(line, |redacted| redacted.as_bytes());
        let _ = io::stderr().lock().write_all(written);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = io::stderr().flush();
        Ok(())
    }
}
