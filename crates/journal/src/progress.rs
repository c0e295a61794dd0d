//! The progress of the writer, for checks from outside.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

/// The state of the writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriterState {
    /// All changes are committed.
    Idle,
    /// Changes are being committed, also again and again, for this time.
    Committing { since: Duration },
    /// It has ended, so that no change can be made any more.
    Ended,
}

/// The beginning of the commit in progress.
#[derive(Debug)]
pub(super) struct Progress {
    created: Instant,
    /// Milliseconds from `created` to the beginning, and 1; 0 without a commit.
    began: AtomicU64,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            created: Instant::now(),
            began: AtomicU64::new(0),
        }
    }
}

impl Progress {
    pub fn begin(&self) {
        self.began.store(self.now() + 1, Ordering::Relaxed);
    }

    pub fn end(&self) {
        self.began.store(0, Ordering::Relaxed);
    }

    pub fn state(&self) -> WriterState {
        match self.began.load(Ordering::Relaxed) {
            0 => WriterState::Idle,
            began => WriterState::Committing {
                since: Duration::from_millis((self.now() + 1).saturating_sub(began)),
            },
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.created.elapsed().as_millis()).unwrap_or(u64::MAX - 1)
    }
}
