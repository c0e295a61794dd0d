//! Type erasure of views, where different views stand in one place.

use leptos::{Child, prelude::*};

/// [`IntoAny`] for views that always have a node.
pub trait Erase {
    /// The view without its type.
    fn erase(self) -> AnyView;
}

impl<V: RenderHtml> Erase for V {
    fn erase(self) -> AnyView {
        // One without would need a placeholder for hydration, and code for it with every view.
        const { assert!(V::EXISTS) };
        Child::new(self).into_any()
    }
}
