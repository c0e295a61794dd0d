//! The payload handlers and actions that the shown page has registered. An entry lives as long as the owner that
//! registered it.

use std::sync::Arc;

use leptos::prelude::*;

use crate::ui::{panel::handlers::PayloadHandler, runtime::lock::Lock, transcript::actions::PageAction};

/// The registry. One per application.
#[derive(Clone)]
pub struct PageRegistry {
    pub handlers: Registry<PayloadHandler>,
    pub actions: Registry<PageAction>,
}

impl PageRegistry {
    /// An empty registry.
    pub fn new() -> Self {
        let changed = RwSignal::new(false);
        Self {
            handlers: Registry::new(changed),
            actions: Registry::new(changed),
        }
    }
}

/// The registry of the current page.
pub fn use_page_registry() -> PageRegistry {
    expect_context()
}

/// Entries of one kind, the latest last. Clones share the list.
pub struct Registry<T> {
    entries: Arc<Lock<Vec<(usize, T)>>>,
    /// Toggled with every change of the entries.
    changed: RwSignal<bool>,
}

// Derived `Clone` would require that the entries are `Clone`.
impl<T> Clone for Registry<T> {
    fn clone(&self) -> Self {
        Self {
            entries: self.entries.clone(),
            changed: self.changed,
        }
    }
}

impl<T: Copy + Send + 'static> Registry<T> {
    pub fn new(changed: RwSignal<bool>) -> Self {
        Self {
            entries: Arc::default(),
            changed,
        }
    }

    /// Adds an entry for as long as the current owner lives.
    pub fn register(&self, entry: T) {
        let number = {
            let mut entries = self.entries.lock();
            let number = entries.last().map_or(0, |(last, _)| last + 1);
            entries.push((number, entry));
            number
        };
        self.mark_changed();
        let own = self.clone();
        on_cleanup(move || {
            own.entries.lock().retain(|(known, _)| *known != number);
            own.mark_changed();
        });
    }

    /// The latest matching entry. Tracked.
    pub fn find(&self, matches: impl Fn(&T) -> bool) -> Option<T> {
        self.changed.track();
        let entries = self.entries.lock();
        let found = entries.iter().rev().find(|(_, entry)| matches(entry));
        found.map(|(_, entry)| *entry)
    }

    fn mark_changed(&self) {
        // The whole page may be gone.
        let _ = self.changed.try_update(|changed| *changed = !*changed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latest_entry_wins_until_its_owner_ends() {
        let owner = Owner::new();
        owner.set();
        let own = Registry::new(RwSignal::new(false));
        own.register("first");
        let child = owner.child();
        child.with(|| own.register("second"));
        assert_eq!(own.find(|_| true), Some("second"));
        assert_eq!(own.find(|entry| *entry == "first"), Some("first"));
        child.cleanup();
        assert_eq!(own.find(|_| true), Some("first"));
    }
}
