//! The tray: the chat beside a page of another kind. It is the same chat, with the same conversations, drafts and panel; what is
//! asked in it carries what the page shows.
//!
//! Here is what every page needs: whether it is open, and what is in it. The rest has its code in a file of its own
//! ([`content`]).

mod content;

use leptos::prelude::*;

pub use self::content::load;
use super::{browser, state::Live};
use crate::ui::{runtime::lazy::lazy_part, state::route::Route};

/// Where there is no room for it beside the page.
const NARROW_QUERY: &str = "(width < 48rem)";
/// What this browser keeps of it: whether it is open, and its conversation.
const OPEN_KEY: &str = "parlor-tray-open";
const ROUTE_KEY: &str = "parlor-tray";

/// The tray. There is one for all pages.
#[derive(Clone, Copy)]
pub struct Tray {
    is_open: RwSignal<bool>,
    /// Its conversation, or that there is none yet.
    route: RwSignal<Route>,
    /// It takes the whole screen.
    is_fullscreen: RwSignal<bool>,
    /// It was open when the page was left: nobody has asked for the focus to be in it.
    was_restored: StoredValue<bool>,
}

impl Tray {
    /// Closed, as the server renders it.
    pub fn new() -> Self {
        Self {
            is_open: RwSignal::new(false),
            route: RwSignal::new(Route::New),
            is_fullscreen: RwSignal::new(false),
            was_restored: StoredValue::new(false),
        }
    }

    /// The browser takes over: it is as it was when somebody last used it. On a phone it would hide the page.
    pub fn restore(self) {
        if let Some(place) = browser::storage_get(ROUTE_KEY) {
            self.route.set(Route::parse(&place));
        }
        if browser::storage_get(OPEN_KEY).is_some() && !browser::matches_media(NARROW_QUERY) {
            self.was_restored.set_value(true);
            self.is_open.set(true);
        }
    }

    /// Where the conversation on the screen is, when a person is on this page.
    pub fn chat_route(self, page: Route) -> Route {
        if page.has_tray() && self.is_open.get() {
            self.route.get()
        } else {
            page
        }
    }

    /// Shows a conversation.
    pub fn show(self, place: Route) {
        browser::storage_set(ROUTE_KEY, Some(&place.path()));
        self.route.set(place);
        self.set_open(true);
    }

    /// Has a conversation go on beside the page that is shown next, if there is room for both.
    pub fn carry_over(self, place: Route) {
        browser::storage_set(ROUTE_KEY, Some(&place.path()));
        self.route.set(place);
        self.set_open(!browser::matches_media(NARROW_QUERY));
        // The page is what one came for.
        self.was_restored.set_value(true);
    }

    fn set_open(self, open: bool) {
        browser::storage_set(OPEN_KEY, open.then_some("yes"));
        self.was_restored.set_value(false);
        self.is_fullscreen
            .set(open && browser::matches_media(NARROW_QUERY));
        if self.is_open.get_untracked() != open {
            self.is_open.set(open);
        }
    }

    /// Closes it, and leads the focus out of it.
    pub fn close(self) {
        let was_within = browser::has_focus_in(".tray");
        self.set_open(false);
        if was_within {
            browser::on_next_frame(|| browser::focus_selector("#tray-open"));
        }
    }

    /// Whether who sees the message box wants to write: not if it is there because it was there before.
    pub fn should_take_focus(self) -> bool {
        !self
            .was_restored
            .try_update_value(std::mem::take)
            .unwrap_or_default()
    }

    /// Something is to be seen on the page: it closes if it covers that.
    pub fn close_if_covering(self) {
        if self.is_covering_page() {
            self.set_open(false);
        }
    }

    /// Whether nothing of the page can be reached.
    pub fn is_covering_page(self) -> bool {
        self.is_fullscreen.get() && self.is_open.get()
    }
}

/// The page's tray.
pub fn use_tray() -> Tray {
    expect_context()
}

/// The tray beside a page, or the button that opens it.
pub fn tray(live: Live) -> AnyView {
    lazy_part(move || content::code(live))
}
