//! The connections for reading the database.

use super::{Group, Histogram};

/// The bounds of the wait for a connection, in seconds.
const WAIT: &[f64] = &[0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];

/// The figures of the database.
#[derive(Debug)]
pub struct DatabaseMetrics {
    /// The time that a read waited for its connection.
    pub wait: Histogram,
}

impl DatabaseMetrics {
    pub(super) fn register(group: &mut Group<'_>) -> Self {
        Self {
            wait: group.histogram(
                "database_wait_seconds",
                "Time that a read of the database waited for a connection",
                WAIT,
            ),
        }
    }

    /// Returns the histogram of a database that belongs to no server.
    pub fn unregistered_wait() -> Histogram {
        Histogram::new(WAIT)
    }
}
