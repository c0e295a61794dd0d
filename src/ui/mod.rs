//! The page: Leptos components, the live state that they read, and the small boundary to the browser.
//!
//! - [`page`]: the snapshots that a page begins with; [`address`] and [`place`]: where it is
//! - [`live`]: the state that the stream of events keeps true, and the intents that change it
//! - [`chat`]: the one layout, with [`sidebar`], [`header`], [`transcript`], [`welcome`] and [`composer`] in it
//! - [`markdown`]: text of a model as views that follow it while it grows
//! - [`browser`]: the only module here that knows whether it runs in one
//!
//! Nothing here decides what an event means (that is `protocol`), nor what an intent does (that is the server).

mod address;
mod browser;
mod chat;
mod clock;
mod composer;
mod delete;
mod drafts;
mod each;
mod erase;
mod header;
mod icons;
mod live;
pub mod markdown;
mod models;
mod not_found;
mod page;
mod place;
mod sidebar;
mod theme;
mod toast;
mod transcript;
mod welcome;
mod when;

use leptos::prelude::*;
use leptos_meta::provide_meta_context;

use self::{address::Address, chat::Chat, erase::Erase, not_found::NotFound};

/// The whole page, for the server to render and the browser to take over.
///
/// All of the chat is one view: going from one conversation to another, or from a new chat to the conversation that it
/// became, keeps everything in place.
#[component]
pub fn Root(
    /// Of the address.
    path: String,
) -> impl IntoView {
    provide_meta_context();
    let address = Address::new(path);
    provide_context(address);
    let is_chat = Memo::new(move |_| address.is_chat());
    move || match is_chat.get() {
        true => view! { <Chat/> }.erase(),
        false => view! { <NotFound/> }.erase(),
    }
}

/// The whole page, in the browser that shows it.
pub fn root_here() -> impl IntoView {
    view! { <Root path=browser::path()/> }
}
