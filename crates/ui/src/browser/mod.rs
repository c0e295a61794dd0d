//! The boundary to the browser: all browser functions that the page uses besides rendering.
//!
//! The only module of the page with `cfg`. In the browser, the functions are those of the modules here; the server's stub is
//! made from the list in [`functions`]. A function that is not in the list can't be called by the page.

use leptos::ev::MouseEvent;

#[cfg(feature = "hydrate")]
mod charts;
#[cfg(feature = "hydrate")]
mod diagrams;
#[cfg(feature = "hydrate")]
mod documents;
#[cfg(feature = "hydrate")]
mod dom;
#[cfg(feature = "hydrate")]
mod events;
#[cfg(feature = "hydrate")]
mod found;
#[cfg(feature = "hydrate")]
mod frames;
mod functions;
#[cfg(feature = "hydrate")]
mod images;
#[cfg(feature = "hydrate")]
mod location;
#[cfg(feature = "hydrate")]
mod notification;
#[cfg(feature = "hydrate")]
mod observers;
#[cfg(feature = "hydrate")]
mod part;
#[cfg(feature = "hydrate")]
mod popovers;
#[cfg(feature = "hydrate")]
mod selection;
#[cfg(feature = "hydrate")]
mod storage;
#[cfg(feature = "hydrate")]
mod texts;
#[cfg(feature = "hydrate")]
mod theme;
#[cfg(feature = "hydrate")]
mod time;
#[cfg(feature = "hydrate")]
mod upload;
#[cfg(feature = "hydrate")]
mod user;
#[cfg(feature = "hydrate")]
pub use self::{
    charts::ChartFrame,
    events::{EventStream, TabLock},
    observers::ElementObserver,
    selection::SelectionWatch,
    time::Timer,
    upload::{LocalFile, Upload},
};

#[cfg(all(feature = "hydrate", not(feature = "ssr")))]
pub use self::{dom::set_title, location::current_url};

#[cfg(not(feature = "hydrate"))]
mod stub;
#[cfg(not(feature = "hydrate"))]
pub use self::stub::{
    ChartFrame, ElementObserver, EventStream, LocalFile, SelectionWatch, TabLock, Timer, Upload,
};

#[cfg(feature = "ssr")]
mod response;
#[cfg(feature = "ssr")]
pub use self::response::{current_url, load_for_page, set_not_found, set_title};

pub use self::functions::*;

/// Does nothing: only the server's response has a status.
#[cfg(not(feature = "ssr"))]
pub fn set_not_found() {}

/// Never completes: the browser finds the data in the page, and needs no code that loads it.
#[cfg(not(feature = "ssr"))]
pub async fn load_for_page<T>(_data: impl Future<Output = T>) -> T {
    std::future::pending().await
}

/// Returns true if a click follows a link in this tab. Clicks with another button or a modifier key open a tab or a
/// window, or save: they are left to the browser.
pub fn is_plain_click(event: &MouseEvent) -> bool {
    let is_with_key = event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key();
    event.button() == 0 && !is_with_key
}

/// An image that opens large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedImage {
    pub id: String,
    pub url: String,
    pub name: String,
}

/// The header of a request for the part of a page that the server renders, and of its response.
pub const PART_HEADER: &str = "parlor-part";

/// The response to a request for such a part.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "hydrate"),
    expect(dead_code, reason = "the stub never answers")
)]
pub enum ServerPart {
    Html(String),
    /// The server answers with a page of its own, such as that for signing in.
    OtherPage,
    Unreachable,
}

/// An event of the event stream.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "hydrate"),
    expect(dead_code, reason = "the stub never reports anything")
)]
pub enum ResponseEvent {
    /// The server responded.
    Opened,
    Bytes(Vec<u8>),
    /// The server refused it, as there are too many (status 429).
    TooMany,
    /// The stream ended, failed, or was refused.
    Ended,
}

/// The people with whom a conversation can be shared here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareChoices {
    /// Whoever has a link.
    pub links: bool,
    /// People here, by name.
    pub people: bool,
}

/// The kind of a frame, as `http::framed_page` knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "hydrate"),
    expect(dead_code, reason = "the server has no frame for diagrams")
)]
pub enum FrameKind {
    /// A page. No script runs.
    Static,
    /// A page with its scripts.
    Scripts,
    /// The page that draws diagrams.
    Diagrams,
    /// The page that draws a chart.
    Charts,
}

impl FrameKind {
    /// The name in the form.
    #[cfg(feature = "hydrate")]
    pub fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Scripts => "scripts",
            Self::Diagrams => "diagrams",
            Self::Charts => "charts",
        }
    }

    /// The attribute of the frame. Without `allow-same-origin`, it has no origin.
    pub fn sandbox(self) -> &'static str {
        match self {
            Self::Static => "",
            Self::Scripts | Self::Diagrams | Self::Charts => "allow-scripts",
        }
    }
}

/// The URLs of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartUrls {
    /// The URL of the chart's JSON.
    pub chart: String,
    /// The URL of the stored picture.
    pub picture: String,
}

/// The reason why a diagram or a chart is not drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(any(feature = "hydrate", test)),
    expect(dead_code, reason = "the stub never draws")
)]
pub enum DrawFailure {
    /// The code that draws it could not be loaded. Trying again may help.
    NotLoaded,
    /// The source can't be drawn, for this reason.
    Impossible(String),
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
