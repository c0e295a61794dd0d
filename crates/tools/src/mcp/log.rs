//! The log of one server, limited to a few lines a minute, however much the server writes and
//! however often it is started. Parlor's own lines about the server have a limit of their own, so that the server's noise
//! does not hide them.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// Maximum number of lines of one server in a [`WINDOW`], and of Parlor's own lines about it.
const MAX_LINES_PER_WINDOW: usize = 20;

const WINDOW: Duration = Duration::from_secs(60);

/// The level of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Info,
    Warning,
}

/// The log of one server.
#[derive(Clone, Debug)]
pub struct ServerLog {
    server: Arc<str>,
    /// Of Parlor's own lines.
    own: Arc<Mutex<LogBudget>>,
    /// Of the server's lines.
    forwarded: Arc<Mutex<LogBudget>>,
}

#[derive(Debug, Default)]
struct LogBudget {
    /// The beginning of the window.
    since: Option<Instant>,
    written: usize,
    dropped: usize,
}

/// The decision about a line.
#[derive(Debug, PartialEq, Eq)]
enum LogDecision {
    /// The line is written, with the number of lines dropped before it.
    Write {
        left_out: usize,
    },
    /// The line is the first one that is dropped.
    DropFirst,
    Drop,
}

impl ServerLog {
    pub fn new(server: &str) -> Self {
        Self {
            server: server.into(),
            own: Arc::default(),
            forwarded: Arc::default(),
        }
    }

    pub fn warn(&self, line: &str) {
        self.log_line(&self.own, Level::Warning, line);
    }

    pub fn info(&self, line: &str) {
        self.log_line(&self.own, Level::Info, line);
    }

    /// Logs a line that the server has written.
    pub fn forward(&self, line: &str) {
        self.log_line(&self.forwarded, Level::Info, line);
    }

    fn log_line(&self, budget: &Mutex<LogBudget>, level: Level, line: &str) {
        let verdict = budget.lock().decide(Instant::now());
        match verdict {
            LogDecision::Write { left_out } => {
                if left_out > 0 {
                    self.write(
                        Level::Warning,
                        &format!("{left_out} lines about it were left out"),
                    );
                }
                self.write(level, line);
            }
            LogDecision::DropFirst => self.write(
                Level::Warning,
                &format!("says more than {MAX_LINES_PER_WINDOW} lines in a minute: the rest is counted and left out"),
            ),
            LogDecision::Drop => {}
        }
    }

    fn write(&self, level: Level, line: &str) {
        match level {
            Level::Info => tracing::info!(server = &*self.server, "{line}"),
            Level::Warning => tracing::warn!(server = &*self.server, "{line}"),
        }
    }
}

impl LogBudget {
    fn decide(&mut self, now: Instant) -> LogDecision {
        let is_over = |since| now.duration_since(since) >= WINDOW;
        if self.since.is_none_or(is_over) {
            let left_out = std::mem::take(&mut self.dropped);
            (self.since, self.written) = (Some(now), 1);
            return LogDecision::Write { left_out };
        }
        if self.written < MAX_LINES_PER_WINDOW {
            self.written += 1;
            return LogDecision::Write { left_out: 0 };
        }
        self.dropped += 1;
        match self.dropped {
            1 => LogDecision::DropFirst,
            _ => LogDecision::Drop,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use captured_log::CapturedLog;

    #[test]
    fn counts_dropped_lines() {
        let mut budget = LogBudget::default();
        let begin = Instant::now();
        let verdicts: Vec<_> = (0..MAX_LINES_PER_WINDOW + 5)
            .map(|_| budget.decide(begin))
            .collect();
        let written = |verdict: &&LogDecision| matches!(verdict, LogDecision::Write { left_out: 0 });
        assert_eq!(verdicts.iter().filter(written).count(), MAX_LINES_PER_WINDOW);
        assert_eq!(
            verdicts[MAX_LINES_PER_WINDOW..MAX_LINES_PER_WINDOW + 2],
            [LogDecision::DropFirst, LogDecision::Drop]
        );
        assert_eq!(budget.decide(begin + WINDOW), LogDecision::Write { left_out: 5 });
        assert_eq!(budget.decide(begin + WINDOW), LogDecision::Write { left_out: 0 });
    }

    #[test]
    fn limits_lines_per_server() {
        let (log, _guard) = CapturedLog::capture();
        let (noisy, quiet) = (ServerLog::new("noisy"), ServerLog::new("quiet"));
        for number in 0..1000 {
            noisy.clone().forward(&format!("line {number}."));
        }
        noisy.warn("its own tools are odd");
        quiet.warn("is gone");
        assert!(log.contains("line 19.") && !log.contains("line 20."));
        assert!(log.contains("the rest is counted and left out") && log.contains("is gone"));
        assert!(log.contains("its own tools are odd"), "its noise hides nothing");
    }
}
