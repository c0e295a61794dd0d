//! Type erasure of views, where different views stand in one place.

use leptos::prelude::*;

use crate::browser;

/// [`IntoAny`] with a smaller WASM.
pub trait Erase {
    /// The view without its type.
    fn erase(self) -> AnyView;
}

impl<V: RenderHtml> Erase for V {
    fn erase(self) -> AnyView {
        browser::erase(self)
    }
}
