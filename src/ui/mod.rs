//! The page: Leptos components, the state that they read, and the small boundary to the browser.
//!
//! The folders in the order of their dependencies, each depending on those above it:
//!
//! - [`browser`]: the browser's functions, and stubs for the server; the only module that knows which half it is in
//! - [`runtime`]: helpers of views and state: erased views, keyed lists, lazily loaded code, the clock
//! - [`components`]: small views that every feature uses
//! - [`markdown`]: Markdown that grows with a streaming answer, and its views
//! - [`state`]: the stores of the client state, which the event stream keeps up to date, and the intents that change it
//! - [`panel`], [`diagnostics`], [`transcript`], [`composer`], [`sidebar`], [`settings`], [`literature`], [`tray`]: one folder a feature
//! - [`pages`]: the list of the features that are pages
//! - [`layout`]: the page around them
//!
//! `make lint` fails if some of them import each other in a circle. Events are interpreted in `protocol`, intents on the
//! server; neither is here.

mod browser;
mod components;
mod composer;
mod diagnostics;
mod layout;
mod literature;
pub mod markdown;
mod pages;
mod panel;
mod runtime;
mod settings;
mod sidebar;
mod state;
#[cfg(test)]
pub(crate) mod tests;
mod transcript;
mod tray;

use leptos::prelude::*;

use self::layout::Chat;
pub use self::layout::prepare;

/// The whole page, which the server renders and the browser hydrates.
///
/// All of the chat is one view, whatever the address: everything stays in place when the user goes from one
/// conversation to another, or when a new chat becomes a conversation. An address that names nothing is a route like
/// any other: [`Chat`] and the stores exist as long as the page, and [`state::route`] parses the address.
#[component]
pub fn Root() -> impl IntoView {
    view! { <Chat/> }
}
