//! The boundary to the browser: all browser functions that the page uses besides rendering.
//!
//! The only module of the page with `cfg`: the browser half has the real functions, the server half a stub with the
//! same signatures. The server renders and runs no effects and no event handlers, so the stubs only have to compile;
//! the few that are called while rendering say so.

use leptos::ev::MouseEvent;

#[cfg(feature = "hydrate")]
mod address;
#[cfg(feature = "hydrate")]
mod documents;
#[cfg(feature = "hydrate")]
mod dom;
#[cfg(feature = "hydrate")]
mod erase;
#[cfg(feature = "hydrate")]
mod events;
#[cfg(feature = "hydrate")]
mod notification;
#[cfg(feature = "hydrate")]
mod popovers;
#[cfg(feature = "hydrate")]
mod selection;
#[cfg(feature = "hydrate")]
mod storage;
#[cfg(feature = "hydrate")]
mod time;
#[cfg(feature = "hydrate")]
mod upload;
#[cfg(feature = "hydrate")]
mod user;
#[cfg(feature = "hydrate")]
pub use self::{
    address::*, documents::*, dom::*, erase::*, events::*, notification::*, popovers::*, selection::*,
    storage::*, time::*, upload::*, user::*,
};

#[cfg(not(feature = "hydrate"))]
mod stub;
#[cfg(not(feature = "hydrate"))]
pub use self::stub::*;

#[cfg(feature = "ssr")]
mod response;
#[cfg(feature = "ssr")]
pub use self::response::{current_address, load_personal, set_not_found, set_title};

/// Only the server's response has a status.
#[cfg(not(feature = "ssr"))]
pub fn set_not_found() {}

/// Only the server has the data at hand; the browser finds it in the page.
#[cfg(not(feature = "ssr"))]
pub async fn load_personal() -> Option<crate::protocol::RawJson> {
    None
}

/// Returns true if a click follows a link in this tab. Clicks with another button or a modifier key open a tab or a
/// window, or save: they are left to the browser.
pub fn is_plain_click(event: &MouseEvent) -> bool {
    let is_with_key = event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key();
    event.button() == 0 && !is_with_key
}

/// An event of the event stream.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "hydrate"),
    expect(dead_code, reason = "the stub never reports anything")
)]
pub enum StreamEvent {
    /// The server answered.
    Opened,
    Bytes(Vec<u8>),
    /// The stream ended, failed, or was refused.
    Ended,
}

/// A change of the page's visibility or of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "hydrate"),
    expect(dead_code, reason = "the stub never reports anything")
)]
pub enum PresenceEvent {
    Visible,
    Hidden,
    Online,
    Offline,
}

/// The permission to show notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "hydrate"),
    expect(dead_code, reason = "the server has no browser to ask")
)]
pub enum NotificationPermission {
    /// The browser has no notifications.
    Unsupported,
    Undecided,
    Granted,
    Denied,
}
