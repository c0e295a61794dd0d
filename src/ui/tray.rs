//! The tray: the chat beside a page of another kind. It is the same chat, with the same conversations, drafts and panel; what is
//! asked in it carries what the page shows.
//!
//! Here is what every page needs: whether it is open, and what is in it. The rest has its code in a file of its own
//! ([`content`]).

mod content;

use leptos::prelude::*;

pub use self::content::load;
use super::{browser, lazy::lazy_part, live::Live, place::Place};

/// Where there is no room for it beside the page.
const NARROW: &str = "(width < 48rem)";
/// What this browser keeps of it: whether it is open, and its conversation.
const OPEN: &str = "parlor-tray-open";
const PLACE: &str = "parlor-tray";

/// The tray. There is one for all pages.
#[derive(Clone, Copy)]
pub struct Tray {
    open: RwSignal<bool>,
    /// Its conversation, or that there is none yet.
    place: RwSignal<Place>,
    /// It takes the whole screen.
    full: RwSignal<bool>,
    /// It was open when the page was left: nobody has asked for the focus to be in it.
    restored: StoredValue<bool>,
}

impl Tray {
    /// Closed, as the server renders it.
    pub fn new() -> Self {
        Self {
            open: RwSignal::new(false),
            place: RwSignal::new(Place::New),
            full: RwSignal::new(false),
            restored: StoredValue::new(false),
        }
    }

    /// The browser takes over: it is as it was when somebody last used it. On a phone it would hide the page.
    pub fn restore(self) {
        if let Some(place) = browser::stored(PLACE) {
            self.place.set(Place::of(&place));
        }
        if browser::stored(OPEN).is_some() && !browser::matches(NARROW) {
            self.restored.set_value(true);
            self.open.set(true);
        }
    }

    /// Where the conversation on the screen is, when a person is on this page.
    pub fn place(self, page: Place) -> Place {
        if page.has_tray() && self.open.get() {
            self.place.get()
        } else {
            page
        }
    }

    /// Shows a conversation.
    pub fn show(self, place: Place) {
        browser::store(PLACE, Some(&place.path()));
        self.place.set(place);
        self.turn(true);
    }

    /// Has a conversation go on beside the page that is shown next, if there is room for both.
    pub fn bring(self, place: Place) {
        browser::store(PLACE, Some(&place.path()));
        self.place.set(place);
        self.turn(!browser::matches(NARROW));
        // The page is what one came for.
        self.restored.set_value(true);
    }

    fn turn(self, open: bool) {
        browser::store(OPEN, open.then_some("yes"));
        self.restored.set_value(false);
        self.full.set(open && browser::matches(NARROW));
        if self.open.get_untracked() != open {
            self.open.set(open);
        }
    }

    /// Closes it, and leads the focus out of it.
    pub fn close(self) {
        let was_within = browser::has_focus_in(".tray");
        self.turn(false);
        if was_within {
            browser::next_frame(|| browser::focus_selector("#tray-open"));
        }
    }

    /// Whether who sees the message box wants to write: not if it is there because it was there before.
    pub fn is_asked_for(self) -> bool {
        !self.restored.try_update_value(std::mem::take).unwrap_or_default()
    }

    /// Something is to be seen on the page: it closes if it covers that.
    pub fn make_way(self) {
        if self.covers_all() {
            self.turn(false);
        }
    }

    /// Whether nothing of the page can be reached.
    pub fn covers_all(self) -> bool {
        self.full.get() && self.open.get()
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
