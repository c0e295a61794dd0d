//! The page: Leptos components, the state that they read, and the small boundary to the browser.
//!
//! The folders in the order of their dependencies, each depending on those above it:
//!
//! - [`browser`]: the browser's functions, and stubs for the server; the only module that knows which half it is in
//! - [`runtime`]: view helpers: erased views, keyed lists, lazily loaded code
//! - [`components`]: small views that every feature uses
//! - [`state`]: the client state that the event stream keeps up to date, and the intents that change it
//! - [`markdown`]: views of Markdown that grow with a streaming answer
//! - [`panel`], [`transcript`], [`composer`], [`sidebar`], [`diagnostics`], [`settings`], [`literature`], [`tray`]: one folder a feature
//! - [`layout`]: the page around them
//!
//! Events are interpreted in `protocol`, intents on the server; neither is here.

mod browser;
mod components;
mod composer;
mod diagnostics;
#[cfg(test)]
pub(crate) mod hydration_tests;
mod layout;
mod literature;
pub mod markdown;
mod panel;
mod runtime;
mod settings;
mod sidebar;
mod state;
mod transcript;
mod tray;

use leptos::prelude::*;

use self::layout::Chat;
pub use self::layout::prepare;

/// The whole page, for the server to render and the browser to take over.
///
/// All of the chat is one view, whatever the address: going from one conversation to another, or from a new chat to
/// the conversation that it became, keeps everything in place. An address that names nothing is a place like any other:
/// [`Chat`] and its live state are there as long as the page is, and [`state::route`] says what the address names.
#[component]
pub fn Root() -> impl IntoView {
    view! { <Chat/> }
}
