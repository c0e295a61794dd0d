//! Notices: what whoever runs Parlor has to know and do, shown at the top of every page until the next start.

use std::sync::{Arc, PoisonError, RwLock};

/// One notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What happened.
    pub title: String,
    /// What was kept, and what to do.
    pub text: String,
}

/// The notices of this process. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Notices(Arc<RwLock<Vec<Notice>>>);

impl Notices {
    /// Adds one, and writes it to the log.
    pub fn add(&self, notice: Notice) {
        tracing::error!("{}: {}", notice.title, notice.text);
        self.0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .push(notice);
    }

    /// All of them, the oldest first.
    pub fn all(&self) -> Vec<Notice> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
