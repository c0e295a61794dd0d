//! State outside signals that exists as long as the page.

use leptos::prelude::*;

/// A copyable handle of a value that the page owns. It is created by a component that is never removed.
#[derive(Debug)]
pub struct PageState<T: 'static>(StoredValue<T>);

impl<T> Clone for PageState<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for PageState<T> {}

impl<T: Default + Send + Sync + 'static> Default for PageState<T> {
    fn default() -> Self {
        Self(StoredValue::new(T::default()))
    }
}

impl<T: Send + Sync + 'static> PageState<T> {
    /// Runs `f` with the value. `f` must not use this handle.
    #[expect(clippy::expect_used, reason = "the page's owner holds the value")]
    pub fn with<R>(self, f: impl FnOnce(&mut T) -> R) -> R {
        self.0
            .try_update_value(f)
            .expect("the value exists as long as the page")
    }
}
