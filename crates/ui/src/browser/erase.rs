//! Type-erased views for the browser.
//!
//! Leptos's `AnyView` supports cases that never happen here, such as waiting for code that is still loading during
//! hydration. Since the type is erased, the compiler cannot remove that code, and all of it is compiled for every view.
//! An `AnyView` here has a `Child` in it, whose view supports only three operations: build, hydrate and rebuild.

use leptos::{Child, prelude::*};

/// The view without its type.
pub fn erase<V: RenderHtml>(view: V) -> AnyView {
    // The server leaves a placeholder for a view without nodes; nothing here would look for it.
    const { assert!(V::EXISTS) };
    Child::new(view).into_any()
}
