//! The page: Leptos components, the live state that they read, and the small boundary to the browser.
//!
//! - [`snapshot`]: the snapshots that a page starts from; [`route`]: the parsed address
//! - [`state`]: the state that the event stream keeps up to date, and the intents that change it
//! - [`chat`]: the one layout, with [`sidebar`], [`header`], [`transcript`], [`welcome`] and [`composer`] in it
//! - [`panel`]: the payloads of tools and the model, beside the conversation
//! - [`literature`]: a page of its own, with the chat in the [`tray`]
//! - [`actions`]: the performers of the actions that a model suggests
//! - [`diagnostics`]: the diagnostics of an answer
//! - [`page_registry`]: the panel handlers and actions of the current page
//! - [`markdown`]: text of a model as views that follow it while it grows
//! - [`settings`]: the person's settings
//! - [`lazy`]: views whose code is loaded when they are first shown
//! - [`browser`]: the only module here that depends on the target
//!
//! No module here decides what an event means (that is `protocol`), nor what an intent does (that is the server).

mod actions;
mod backoff;
mod browser;
mod chat;
mod clock;
mod composer;
mod confirm;
mod copy;
mod deletion;
mod details;
mod diagnostics;
mod drafts;
mod each;
mod erase;
mod header;
mod highlight;
#[cfg(test)]
pub(crate) mod hydration_tests;
mod icons;
mod lazy;
mod literature;
pub mod markdown;
mod models;
mod more;
mod not_found;
mod notifications;
mod page_registry;
mod panel;
mod route;
mod settings;
mod sidebar;
mod snapshot;
mod state;
mod theme;
mod toast;
mod transcript;
mod tray;
mod welcome;
mod when;

use leptos::prelude::*;

use self::chat::Chat;
pub use self::lazy::prepare;

/// The `rel` of external links: the target cannot access this page and gets no referrer, and the link does not vouch
/// for it.
pub const EXTERNAL_LINK_REL: &str = "noopener noreferrer nofollow";

/// The whole page, which the server renders and the browser hydrates.
///
/// All of the chat is one view, whatever the address: everything stays in place when the person goes from one
/// conversation to another, or when a new chat becomes a conversation. An address that names nothing is a route like
/// any other: [`Chat`] and its live state exist as long as the page, and [`route`] parses the address.
#[component]
pub fn Root() -> impl IntoView {
    view! { <Chat/> }
}
