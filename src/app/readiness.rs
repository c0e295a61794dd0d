//! Readiness: the check by which proxies and orchestrators know that this server can serve.
//!
//! A server that listens has opened its database and applied the migrations, so only what can fail later is checked here.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use super::last_answer::LastAnswer;
use parlor_base::settings::Settings;
use parlor_journal::{Journal, WriterState};
use parlor_protocol::{Position, UserId};
use parlor_storage::Storage;

/// The reason why a server can't serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    #[error("the server is stopping")]
    Stopping,
    #[error("the database can't be read")]
    DatabaseUnreadable,
    #[error("the database takes no changes")]
    DatabaseNotWritable,
    #[error("this node has lost its lease, and begins another one")]
    LeaseLost,
    #[error("another process has taken over the database; stop one of the two")]
    Replaced,
    #[error("the writer of changes has ended; start Parlor again")]
    WriterEnded,
}

/// The readiness of this server.
pub struct Readiness {
    storage: Arc<dyn Storage>,
    journal: Journal,
    /// The longest time for which a commit may last.
    max_commit: Duration,
    is_stopping: AtomicBool,
    /// The last position of a log, which shows that the database can be read.
    read: LastAnswer<Position>,
}

impl Readiness {
    pub fn new(storage: Arc<dyn Storage>, journal: Journal, settings: &Settings) -> Self {
        Self {
            storage,
            journal,
            max_commit: settings.timeouts.readiness,
            is_stopping: AtomicBool::new(false),
            read: LastAnswer::new(settings),
        }
    }

    /// Makes the server not ready for good. Requests are still answered until it has stopped.
    pub fn begin_stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    /// Returns the reasons why the server can't serve; none if it can.
    pub async fn problems(&self) -> Vec<NotReady> {
        if self.is_stopping.load(Ordering::Relaxed) {
            return vec![NotReady::Stopping];
        }
        let mut problems = Vec::new();
        let read = self.read.get(self.storage.last_position(UserId::LOCAL));
        if read.await.is_none() {
            problems.push(NotReady::DatabaseUnreadable);
        }
        if self.journal.has_lost_lease() {
            problems.push(match self.storage.has_nodes() {
                true => NotReady::LeaseLost,
                false => NotReady::Replaced,
            });
        }
        match self.journal.writer_state() {
            WriterState::Ended => problems.push(NotReady::WriterEnded),
            WriterState::Committing { since } if since >= self.max_commit => {
                problems.push(NotReady::DatabaseNotWritable);
            }
            WriterState::Committing { .. } | WriterState::Idle => {}
        }
        problems
    }
}
