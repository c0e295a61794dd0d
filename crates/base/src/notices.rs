//! Notices for the operator, shown at the top of every page until the next start.

use std::sync::Arc;

use parking_lot::RwLock;

/// A problem that an operator can mend, shown on every page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The event or problem.
    pub title: String,
    /// The consequences, the data that was kept, and the recommended action.
    pub text: String,
}

/// The notices of this process. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Notices(Arc<RwLock<Vec<Notice>>>);

impl Notices {
    /// Adds a notice and logs it.
    pub fn add(&self, notice: Notice) {
        tracing::error!("{}: {}", notice.title, notice.text);
        self.0.write().push(notice);
    }

    /// Returns all notices, oldest first.
    pub fn all(&self) -> Vec<Notice> {
        self.0.read().clone()
    }
}
