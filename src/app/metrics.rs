//! The figures of the server at one moment.

use std::time::Duration;

use super::AppState;
use parlor_base::metrics::samples::{Sample, WorkCount};
use parlor_journal::WriterState;

impl AppState {
    /// Returns all figures in the text format of Prometheus. Those of the database are at most
    /// `timeouts.readiness_interval` old, and missing if it does not answer.
    pub async fn encode_metrics(&self) -> String {
        let sample = Sample {
            active: WorkCount {
                answers: self.runs.active_count(),
                jobs: self.jobs.active_count(),
            },
            stored: self.stored_work.get(self.storage.stored_work()).await,
            queued_changes: self.journal.queue_lengths(),
            commit_in_progress: match self.journal.writer_state() {
                WriterState::Committing { since } => since,
                WriterState::Idle | WriterState::Ended => Duration::ZERO,
            },
            subscribers: self.hub.subscriber_count(),
            share_watchers: self.watchers.count(),
            python_sessions: self.services.python.session_count(),
            connections: self.storage.connections(),
            has_lease: !self.journal.has_lost_lease(),
        };
        self.metrics.samples.set(&sample);
        self.metrics.encode()
    }
}
