//! The page: Leptos components, the live state that they read, and the small boundary to the browser.
//!
//! - [`page`]: the snapshots that a page begins with; [`place`]: what its address names
//! - [`live`]: the state that the stream of events keeps true, and the intents that change it
//! - [`chat`]: the one layout, with [`sidebar`], [`header`], [`transcript`], [`welcome`] and [`composer`] in it
//! - [`panel`]: what tools and the model have made, beside the conversation
//! - [`literature`]: a page of its own, beside which one talks in the [`tray`]
//! - [`actions`]: what the page does when an action that the model suggests is pressed
//! - [`diagnostics`]: how an answer was made
//! - [`own`]: what the page that is shown has of its own for these two
//! - [`markdown`]: text of a model as views that follow it while it grows
//! - [`settings`]: what a person sets for themselves
//! - [`lazy`]: views whose code is loaded when they are first shown
//! - [`browser`]: the only module here that knows whether it runs in one
//!
//! Nothing here decides what an event means (that is `protocol`), nor what an intent does (that is the server).

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

/// What a link to somewhere else must not do: see this page, know where the reader came from, vouch for the target.
pub const EXTERNAL_LINK_REL: &str = "noopener noreferrer nofollow";

/// The whole page, for the server to render and the browser to take over.
///
/// All of the chat is one view, whatever the address: going from one conversation to another, or from a new chat to
/// the conversation that it became, keeps everything in place. An address that names nothing is a place like any other:
/// [`Chat`] and its live state are there as long as the page is, and [`place`] says what the address names.
#[component]
pub fn Root() -> impl IntoView {
    view! { <Chat/> }
}
