//! Leptos with elements that are compiled once.
//!
//! Leptos's `view!` gives each element a type that contains the types of its attributes and children, and the compiler makes
//! the code that renders, builds, hydrates and rebuilds it again for each of them: a third of the page's WASM, and a fifth of the server's
//! program. Here every element has one type, [`Element`], that is data for one renderer.
//!
//! `view!` writes paths that begin with `::leptos`. The page of Parlor knows this crate by that name: it has all of Leptos,
//! with other functions where `view!` creates elements, and where it takes a value as a child. The server renders the HTML of Leptos's
//! own elements, except that there is no attribute `class` without classes, and that the text of a `textarea` is escaped.
//!
//! Attributes that read resources are not awaited, and pages are not streamed out of order: no page does either.

#[cfg(all(feature = "ssr", target_arch = "wasm32"))]
compile_error!("a browser has no use for the feature `ssr`: its pages would have no events");

mod attribute;
mod child;
mod element;
mod node;
mod render;
mod tags;
#[cfg(feature = "ssr")]
mod to_html;
mod value;
mod view;

pub use leptos::*;

pub use self::{
    child::{Child, Children},
    element::Element,
    value::{AttributeValue, ClassValue, Property, PropertyValue, Value},
    view::View,
};

/// Leptos's prelude. Blocks in `view!` become [`Child`], and an `AnyView` has one in it.
pub mod prelude {
    pub use leptos::prelude::*;

    pub use crate::{
        child::{IntoAny, IntoRender},
        view::View,
    };
}

/// Leptos's renderer with other elements.
pub mod tachys {
    pub use leptos::tachys::*;

    pub mod html {
        pub use leptos::tachys::html::*;

        pub use crate::tags::html as element;
    }

    pub mod svg {
        pub use leptos::tachys::svg::InertElement;

        pub use crate::tags::svg::*;
    }
}

/// Leptos's components, whose views become [`Child`].
pub mod component {
    pub use leptos::component::*;

    pub use crate::child::component_view;
}
