//! Answers and jobs, and the tools that they call.

use std::time::Duration;

use prometheus_client::metrics::family::Family;

use super::{Counter, Group, Histogram, Labels};
use parlor_protocol::RunStatus;

/// The bounds of the time to the first token, in seconds.
const FIRST_TOKEN: &[f64] = &[0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0];

/// Kinds of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// A run, which answers a message.
    Answer,
    Job,
}

impl WorkKind {
    pub(super) const ALL: [Self; 2] = [Self::Answer, Self::Job];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Job => "job",
        }
    }
}

/// The end of a period of work. A later start counts again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkEnd {
    /// Waiting for its user, or ended.
    Status(RunStatus),
    /// Deleted with its conversation.
    Deleted,
}

impl WorkEnd {
    fn as_str(self) -> &'static str {
        match self {
            Self::Status(status) => status.as_str(),
            Self::Deleted => "deleted",
        }
    }
}

/// The outcome of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolOutcome {
    Complete,
    /// The model was given an error.
    Failed,
    /// Its run ended before it.
    Aborted,
}

impl ToolOutcome {
    fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Aborted => "aborted",
        }
    }
}

/// The figures of runs and jobs.
#[derive(Debug)]
pub struct RunMetrics {
    started: Family<Labels<1>, Counter>,
    taken_over: Family<Labels<1>, Counter>,
    ended: Family<Labels<2>, Counter>,
    first_token: Histogram,
    tool_calls: Family<Labels<1>, Counter>,
}

impl RunMetrics {
    pub(super) fn register(group: &mut Group<'_>) -> Self {
        Self {
            started: group.counters("runs_started", "Answers and jobs that were started or continued"),
            taken_over: group.counters(
                "runs_taken_over",
                "Answers and jobs that another process had left, and that this one took",
            ),
            ended: group.counters(
                "runs_ended",
                "Ends of answers and jobs by status; waiting is the wait for a person",
            ),
            first_token: group.histogram(
                "first_token_seconds",
                "Time from the start or continuation of an answer to its first delta of text or thinking",
                FIRST_TOKEN,
            ),
            tool_calls: group.counters(
                "tool_calls",
                "Calls of tools; failed gave the model an error, aborted ended with their answer",
            ),
        }
    }

    pub fn count_start(&self, kind: WorkKind) {
        self.started.get_or_create(&[("kind", kind.as_str())]).inc();
    }

    pub fn count_takeover(&self, kind: WorkKind) {
        self.taken_over.get_or_create(&[("kind", kind.as_str())]).inc();
    }

    pub fn count_end(&self, kind: WorkKind, end: WorkEnd) {
        let labels = [("kind", kind.as_str()), ("status", end.as_str())];
        self.ended.get_or_create(&labels).inc();
    }

    /// Counts the first token of an answer.
    pub fn count_first_token(&self, delay: Duration) {
        self.first_token.observe_duration(delay);
    }

    pub fn count_tool_calls(&self, outcome: ToolOutcome, calls: usize) {
        if calls > 0 {
            let labels = [("outcome", outcome.as_str())];
            self.tool_calls.get_or_create(&labels).inc_by(calls as u64);
        }
    }
}
