//! The database: the connections for reading it, and the leases of the nodes on it.

use super::{Counter, Group, Histogram};

/// The bounds of the wait for a connection, in seconds.
const WAIT: &[f64] = &[0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];

/// The figures of the database.
#[derive(Debug)]
pub struct DatabaseMetrics {
    /// The time that a read waited for its connection.
    pub wait: Histogram,
    leases_lost: Counter,
    leases_ended: Counter,
}

impl DatabaseMetrics {
    pub(super) fn register(group: &mut Group<'_>) -> Self {
        Self {
            wait: group.histogram(
                "database_wait_seconds",
                "Time that a read of the database waited for a connection",
                WAIT,
            ),
            leases_lost: group.counter("leases_lost", "Times that this process has lost its lease"),
            leases_ended: group.counter(
                "leases_ended",
                "Expired leases of other nodes that this one has ended",
            ),
        }
    }

    /// Counts the loss of this process's lease.
    pub fn count_lost_lease(&self) {
        self.leases_lost.inc();
    }

    /// Counts leases of other nodes that this one has ended.
    pub fn count_ended_leases(&self, count: u64) {
        self.leases_ended.inc_by(count);
    }

    /// Returns the histogram of a database that belongs to no server.
    pub fn unregistered_wait() -> Histogram {
        Histogram::new(WAIT)
    }
}
