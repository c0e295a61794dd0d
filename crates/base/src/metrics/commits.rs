//! Commits of the journal, and what becomes of committed events.

use std::time::Duration;

use super::{Counter, Group, Histogram};

/// The bounds of durations of commits and of delays on the way of a token, in seconds.
const DELAYS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// The bounds of the number of changes in a commit.
const CHANGES: &[f64] = &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0];

/// The figures of the journal and its hub.
#[derive(Debug)]
pub struct CommitMetrics {
    duration: Histogram,
    changes: Histogram,
    failures: Counter,
    delta_delay: Histogram,
    committed_events: Counter,
    published_events: Counter,
    lags: Counter,
    missed_events: Counter,
}

impl CommitMetrics {
    pub(super) fn register(group: &mut Group<'_>) -> Self {
        Self {
            duration: group.histogram(
                "commit_duration_seconds",
                "Time that a commit of the journal took, in the database",
                DELAYS,
            ),
            changes: group.histogram(
                "commit_changes",
                "Changes in one commit, of all users, with adjacent deltas of a run merged",
                CHANGES,
            ),
            failures: group.counter(
                "commit_failures",
                "Commits that failed; output of runs is committed again, other changes are refused",
            ),
            delta_delay: group.histogram(
                "delta_delay_seconds",
                "Time from the receipt of a delta of text or thinking to its publication, after its commit",
                DELAYS,
            ),
            committed_events: group.counter("events_committed", "Events that were committed to logs"),
            published_events: group.counter(
                "events_published",
                "Committed events that were given to live subscribers, if there were any",
            ),
            lags: group.counter(
                "subscriber_lags",
                "Times that a live subscriber had fallen so far behind that it read the log instead",
            ),
            missed_events: group.counter(
                "subscriber_missed_events",
                "Events that subscribers who had fallen behind read from the log",
            ),
        }
    }

    /// Counts a commit of this number of changes and events.
    pub fn count_commit(&self, took: Duration, changes: usize, events: usize) {
        self.duration.observe_duration(took);
        self.changes.observe(changes as f64);
        self.committed_events.inc_by(events as u64);
    }

    /// Counts a commit that failed.
    pub fn count_failure(&self) {
        self.failures.inc();
    }

    /// Counts published events.
    pub fn count_published(&self, events: usize) {
        self.published_events.inc_by(events as u64);
    }

    /// Counts a delta that was published this long after its receipt.
    pub fn count_delta(&self, delay: Duration) {
        self.delta_delay.observe_duration(delay);
    }

    /// Counts a subscriber that has missed events.
    pub fn count_lag(&self, missed: u64) {
        self.lags.inc();
        self.missed_events.inc_by(missed);
    }
}
