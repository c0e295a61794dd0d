//! Stopping a query: at its deadline, when nobody waits for it any more, and when it takes too much memory.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering::Relaxed},
    },
    time::Instant,
};

use super::{
    super::{QueryError, QueryErrorKind, limits::QueryLimits},
    memory,
};

const RUNNING: u8 = 0;
const LATE: u8 = 1;
const ABANDONED: u8 = 2;
const TOO_LARGE: u8 = 3;

/// The state of a query, asked for by SQLite every some instructions.
#[derive(Clone)]
pub struct StopSignal {
    state: Arc<AtomicU8>,
    deadline: Option<Instant>,
    /// SQLite's memory above which the query is stopped.
    max_memory: usize,
}

impl StopSignal {
    pub fn new(limits: &QueryLimits) -> Self {
        Self {
            state: Arc::new(AtomicU8::new(RUNNING)),
            deadline: Instant::now().checked_add(limits.timeout),
            max_memory: memory::used().saturating_add(limits.memory_bytes),
        }
    }

    /// Returns true if the query has to stop.
    pub fn must_stop(&self) -> bool {
        if self.state.load(Relaxed) != RUNNING {
            return true;
        }
        let state = if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            LATE
        } else if memory::used() > self.max_memory {
            TOO_LARGE
        } else {
            return false;
        };
        self.state.store(state, Relaxed);
        true
    }

    /// Returns the error of a query that was stopped; `None` if it was not.
    pub fn reason(&self, limits: &QueryLimits) -> Option<QueryError> {
        match self.state.load(Relaxed) {
            LATE => Some(QueryError::timeout(limits.timeout)),
            TOO_LARGE => Some(
                QueryError::new(
                    QueryErrorKind::TooLarge,
                    format!(
                        "The queries that run now need more than {} MB of memory (setting data.query_memory_bytes).",
                        limits.memory_bytes >> 20
                    ),
                )
                .with_hint("Filter or aggregate earlier, and sort fewer rows."),
            ),
            ABANDONED => Some(QueryError::new(
                QueryErrorKind::Unavailable,
                "The query was stopped.",
            )),
            _ => None,
        }
    }
}

/// Stops the query when it is dropped: when it has ended, or when nobody waits for it.
pub struct QueryGuard(pub StopSignal);

impl Drop for QueryGuard {
    fn drop(&mut self) {
        self.0
            .state
            .compare_exchange(RUNNING, ABANDONED, Relaxed, Relaxed)
            .ok();
    }
}
