//! The page's life in the browser: hydrated or not, on the screen or not.

use leptos::prelude::*;

/// The page's life. One per page.
#[derive(Clone, Copy)]
pub struct PageLifecycle {
    is_hydrated: StoredValue<bool>,
    is_visible: RwSignal<bool>,
}

impl PageLifecycle {
    /// A visible page before hydration, as the server renders it.
    pub(super) fn new() -> Self {
        Self {
            is_hydrated: StoredValue::new(false),
            is_visible: RwSignal::new(true),
        }
    }

    /// Returns true after hydration: views created from now on were not in the server's page.
    pub fn is_hydrated(self) -> bool {
        self.is_hydrated.get_value()
    }

    /// Returns true while the page is visible. Tracked.
    pub fn is_visible(self) -> bool {
        self.is_visible.get()
    }

    pub(super) fn mark_hydrated(self) {
        self.is_hydrated.set_value(true);
    }

    pub(super) fn set_visible(self, is_visible: bool) {
        self.is_visible.set(is_visible);
    }
}
