//! A copy of a value of the server that follows the log.
//!
//! The value comes as a snapshot, which includes all changes up to a position of the log; the stream has those after it. The two
//! may overlap in any order: while a snapshot is being loaded, the changes are kept, and applied to it when it is here. The value
//! skips those that it includes, so none is missed or applied twice.
//!
//! Pure state: whoever has a replica sends the requests and updates the signals.

use super::remote::Remote;
use parlor_protocol::{ApiError, transcript::MissingEventError};

/// A value of the server that the log changes.
pub trait Replicated {
    /// A change in the log.
    type Change: Clone;
    /// The effect of a change on the value.
    type Update;

    /// Applies a change. One that the value includes has no effect.
    ///
    /// # Errors
    ///
    /// [`MissingEventError`] if a change before this one is missing.
    fn apply(&mut self, change: &Self::Change) -> Result<Self::Update, MissingEventError>;

    /// Returns true if a change is kept for the snapshots being loaded.
    fn is_kept(_change: &Self::Change) -> bool {
        true
    }
}

/// The copy, and the changes that belong to the snapshots being loaded.
#[derive(Debug)]
pub struct Replica<T: Replicated> {
    value: Remote<T>,
    /// True if changes are missing in the value: it stays as it is until the next snapshot.
    is_behind: bool,
    /// The number of snapshots being loaded.
    loads: usize,
    /// The changes received since the first of them was requested.
    later: Vec<T::Change>,
}

/// The result of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied<U> {
    /// Nothing changed: the value is not there or behind. The next snapshot has the change.
    Awaiting,
    Changed(U),
    /// A change before this one is missing. A load of a snapshot has begun, and the caller has to request it.
    NeedsSnapshot,
}

impl<T: Replicated> Default for Replica<T> {
    fn default() -> Self {
        Self::from(Remote::NotRequested)
    }
}

impl<T: Replicated> From<Remote<T>> for Replica<T> {
    fn from(value: Remote<T>) -> Self {
        Self {
            value,
            is_behind: false,
            loads: 0,
            later: Vec::new(),
        }
    }
}

impl<T: Replicated> Replica<T> {
    /// Starts from a snapshot.
    pub fn new(snapshot: T) -> Self {
        Remote::Ready(snapshot).into()
    }

    /// The value and its loading state.
    pub fn remote(&self) -> &Remote<T> {
        &self.value
    }

    /// The value, if there is one.
    pub fn get(&self) -> Option<&T> {
        match &self.value {
            Remote::Ready(value) => Some(value),
            _ => None,
        }
    }

    /// The value, for changes that are not in the log.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        match &mut self.value {
            Remote::Ready(value) => Some(value),
            _ => None,
        }
    }

    /// Returns true while a snapshot is being loaded.
    pub fn is_loading(&self) -> bool {
        self.loads > 0
    }

    /// Returns true if the value lacks changes and no longer follows the log.
    pub fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// Records that the value lacks changes.
    pub fn mark_behind(&mut self) {
        self.is_behind = true;
    }

    /// Applies a change of the log, and keeps it for the snapshots being loaded.
    pub fn apply(&mut self, change: &T::Change) -> Applied<T::Update> {
        if self.is_loading() && T::is_kept(change) {
            self.later.push(change.clone());
        }
        let is_behind = self.is_behind;
        let Some(value) = self.get_mut().filter(|_| !is_behind) else {
            return Applied::Awaiting;
        };
        match value.apply(change) {
            Ok(update) => Applied::Changed(update),
            Err(_) => {
                self.is_behind = true;
                if self.is_loading() {
                    return Applied::Awaiting;
                }
                self.begin_load();
                self.later.push(change.clone());
                Applied::NeedsSnapshot
            }
        }
    }

    /// Begins a load of a snapshot. [`finish_load`](Self::finish_load), [`fail_load`](Self::fail_load) or
    /// [`end_load`](Self::end_load) follows.
    pub fn begin_load(&mut self) {
        self.loads += 1;
        if self.get().is_none() {
            self.value = Remote::Loading;
        }
    }

    /// Replaces the value by a snapshot.
    ///
    /// # Errors
    ///
    /// [`MissingEventError`] if the snapshot lacks changes before those that were kept. The value stays and the load goes on:
    /// the caller has to request another snapshot.
    pub fn finish_load(&mut self, mut snapshot: T) -> Result<(), MissingEventError> {
        self.catch_up(&mut snapshot)?;
        self.value = Remote::Ready(snapshot);
        self.is_behind = false;
        self.end_load();
        Ok(())
    }

    /// Ends a load that failed. A value that is there stays.
    pub fn fail_load(&mut self, error: ApiError) {
        self.end_load();
        if self.get().is_none() && !self.is_loading() {
            self.value = Remote::Failed(error);
        }
    }

    /// Applies the changes since the first load began to what was loaded.
    ///
    /// # Errors
    ///
    /// [`MissingEventError`] if a change before them is missing.
    pub fn catch_up(&self, loaded: &mut T) -> Result<(), MissingEventError> {
        for change in &self.later {
            loaded.apply(change)?;
        }
        Ok(())
    }

    /// Ends a load without a snapshot.
    pub fn end_load(&mut self) {
        self.loads = self.loads.saturating_sub(1);
        if !self.is_loading() {
            self.later.clear();
        }
    }
}

#[cfg(test)]
mod tests;
