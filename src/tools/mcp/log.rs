//! The log, as far as it is about one server: a few lines a minute, however much that server says and however often it is started.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The most lines about one server in a [`WINDOW`].
const MAX_LINES: usize = 20;

const WINDOW: Duration = Duration::from_secs(60);

/// The importance of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Info,
    Warning,
}

/// The log of one server.
#[derive(Clone, Debug)]
pub struct ServerLog {
    server: Arc<str>,
    budget: Arc<Mutex<Budget>>,
}

#[derive(Debug, Default)]
struct Budget {
    /// The beginning of the window.
    since: Option<Instant>,
    written: usize,
    left_out: usize,
}

/// The fate of a line.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// It is written; so many before it were not.
    Write {
        left_out: usize,
    },
    /// It is the first that is not.
    LeaveOutFirst,
    LeaveOut,
}

impl ServerLog {
    pub fn new(server: &str) -> Self {
        Self {
            server: server.into(),
            budget: Arc::default(),
        }
    }

    pub fn warn(&self, line: &str) {
        self.say(Level::Warning, line);
    }

    pub fn info(&self, line: &str) {
        self.say(Level::Info, line);
    }

    fn say(&self, level: Level, line: &str) {
        let verdict = self
            .budget
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .judge(Instant::now());
        match verdict {
            Verdict::Write { left_out } => {
                if left_out > 0 {
                    self.write(
                        Level::Warning,
                        &format!("{left_out} lines about it were left out"),
                    );
                }
                self.write(level, line);
            }
            Verdict::LeaveOutFirst => self.write(
                Level::Warning,
                &format!("says more than {MAX_LINES} lines in a minute: the rest is counted and left out"),
            ),
            Verdict::LeaveOut => {}
        }
    }

    fn write(&self, level: Level, line: &str) {
        match level {
            Level::Info => tracing::info!(server = &*self.server, "{line}"),
            Level::Warning => tracing::warn!(server = &*self.server, "{line}"),
        }
    }
}

impl Budget {
    fn judge(&mut self, now: Instant) -> Verdict {
        let is_over = |since| now.duration_since(since) >= WINDOW;
        if self.since.is_none_or(is_over) {
            let left_out = std::mem::take(&mut self.left_out);
            (self.since, self.written) = (Some(now), 1);
            return Verdict::Write { left_out };
        }
        if self.written < MAX_LINES {
            self.written += 1;
            return Verdict::Write { left_out: 0 };
        }
        self.left_out += 1;
        match self.left_out {
            1 => Verdict::LeaveOutFirst,
            _ => Verdict::LeaveOut,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_log::Log;

    #[test]
    fn lines_over_the_limit_are_counted() {
        let mut budget = Budget::default();
        let begin = Instant::now();
        let verdicts: Vec<_> = (0..MAX_LINES + 5).map(|_| budget.judge(begin)).collect();
        let written = |verdict: &&Verdict| matches!(verdict, Verdict::Write { left_out: 0 });
        assert_eq!(verdicts.iter().filter(written).count(), MAX_LINES);
        assert_eq!(
            verdicts[MAX_LINES..MAX_LINES + 2],
            [Verdict::LeaveOutFirst, Verdict::LeaveOut]
        );
        assert_eq!(budget.judge(begin + WINDOW), Verdict::Write { left_out: 5 });
        assert_eq!(budget.judge(begin + WINDOW), Verdict::Write { left_out: 0 });
    }

    #[test]
    fn one_noisy_server_leaves_others_their_lines() {
        let (log, _guard) = Log::listen();
        let (noisy, quiet) = (ServerLog::new("noisy"), ServerLog::new("quiet"));
        for number in 0..1000 {
            noisy.clone().info(&format!("line {number}."));
        }
        quiet.warn("is gone");
        assert!(log.says("line 19.") && !log.says("line 20."));
        assert!(log.says("the rest is counted and left out") && log.says("is gone"));
    }
}
