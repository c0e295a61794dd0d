//! The browser: everything that the page asks of it besides drawing.
//!
//! The only module of the page with `cfg`: the browser half gets the real thing, the server half a stub with the
//! same signatures. The server renders and runs no effects and no handlers, so the stubs are there to be
//! compiled; the few that are called while rendering say so.

use leptos::ev::MouseEvent;

#[cfg(feature = "hydrate")]
mod address;
#[cfg(feature = "hydrate")]
mod dom;
#[cfg(feature = "hydrate")]
mod erase;
#[cfg(feature = "hydrate")]
mod events;
#[cfg(feature = "hydrate")]
mod notification;
#[cfg(feature = "hydrate")]
mod storage;
#[cfg(feature = "hydrate")]
mod time;
#[cfg(feature = "hydrate")]
pub use self::{address::*, dom::*, erase::*, events::*, notification::*, storage::*, time::*};

#[cfg(not(feature = "hydrate"))]
mod stub;
#[cfg(not(feature = "hydrate"))]
pub use self::stub::*;

#[cfg(feature = "ssr")]
mod response;
#[cfg(feature = "ssr")]
pub use self::response::{current_address, load_personal, set_not_found, set_title};

/// Only a server's response has a status.
#[cfg(not(feature = "ssr"))]
pub fn set_not_found() {}

/// Only a server has it at hand; the browser finds it in the page.
#[cfg(not(feature = "ssr"))]
pub async fn load_personal() -> Option<crate::protocol::RawJson> {
    None
}

/// Tells if a click follows a link here. One with another button or with a key opens a tab or a window, or saves: it is the browser's.
pub fn is_plain_click(event: &MouseEvent) -> bool {
    let is_with_key = event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key();
    event.button() == 0 && !is_with_key
}

/// What the event stream tells.
#[derive(Debug)]
// The stub never has anything to tell.
#[cfg_attr(not(feature = "hydrate"), expect(dead_code))]
pub enum StreamEvent {
    /// The server answered.
    Opened,
    Bytes(Vec<u8>),
    /// The stream ended, broke off, or was refused.
    Ended,
}

/// Whether anybody can see the page, and whether there is a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// The stub never has anything to tell.
#[cfg_attr(not(feature = "hydrate"), expect(dead_code))]
pub enum PresenceEvent {
    Visible,
    Hidden,
    Online,
    Offline,
}

/// Whether the browser shows notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// There is no browser to say otherwise.
#[cfg_attr(not(feature = "hydrate"), expect(dead_code))]
pub enum NotificationPermission {
    /// It has none.
    Unsupported,
    Undecided,
    Granted,
    Denied,
}
