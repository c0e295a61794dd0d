//! The tray's state: if it is open, its conversation on each page, and the page that the conversation is about.

use leptos::prelude::*;

use super::{page_registry::PageEntry, route::Route};
use crate::browser;
use parlor_protocol::{PageContext, PageInfo};

/// The media query for windows in which the tray covers the whole page.
pub const NARROW_QUERY: &str = "(width < 48rem)";
/// The media query for windows in which it covers at least a part of the page: it is closed at first.
const COVERING_QUERY: &str = "(width < 64rem)";
/// The storage key of its state: open or closed.
const OPEN_KEY: &str = "parlor-tray-open";

/// The storage key of its conversation on a page.
fn route_key(page: &str) -> String {
    ["parlor-tray-", page].concat()
}

/// The tray. One for all pages.
#[derive(Clone, Copy)]
pub struct Tray {
    is_open: RwSignal<bool>,
    /// The routes of its conversations, by the names of the pages. Pages without one have a new one.
    routes: RwSignal<Vec<(&'static str, Route)>>,
    /// True if it covers the whole screen.
    is_fullscreen: RwSignal<bool>,
    /// True if it was open when the page was left: it must not take the focus.
    was_restored: StoredValue<bool>,
    tray_page: RwSignal<Option<TrayPage>>,
}

/// A page that the tray's chat is about.
#[derive(Clone, Copy)]
pub struct TrayPage {
    /// Returns the current context: what is on the screen.
    pub context: Callback<(), PageContext>,
    /// A sentence about what the assistant sees of the page.
    pub about: &'static str,
    /// Suggested questions about what is open now.
    pub suggested_questions: Callback<(), Vec<String>>,
    /// The placeholder of the message box; `None` for the usual one.
    pub placeholder: Callback<(), Option<String>>,
}

impl Tray {
    /// A closed tray, as the server renders it.
    pub fn new() -> Self {
        Self {
            is_open: RwSignal::new(false),
            routes: RwSignal::default(),
            is_fullscreen: RwSignal::new(false),
            was_restored: StoredValue::new(false),
            tray_page: RwSignal::new(None),
        }
    }

    /// Restores the stored state after hydration. On a phone it stays closed, because it would hide the page.
    pub fn restore(self, pages: &[PageEntry]) {
        for page in pages {
            if let Some(path) = browser::storage_get(&route_key(page.info.name)) {
                self.set_route(page.info.name, Route::parse(&path, &[]));
            }
        }
        if browser::storage_get(OPEN_KEY).is_some() && !browser::matches_media(COVERING_QUERY) {
            self.was_restored.set_value(true);
            self.is_open.set(true);
        }
    }

    /// The route of the conversation on the screen, for a given page.
    pub fn chat_route(self, page: Route) -> Route {
        match page {
            Route::Page(info) if info.has_tray && self.is_open.get() => self.routes.with(|routes| {
                let here = routes.iter().find(|(name, _)| *name == info.name);
                here.map_or(Route::New, |(_, route)| *route)
            }),
            _ => page,
        }
    }

    /// Shows a conversation next to a page.
    pub(super) fn show(self, page: &'static PageInfo, route: Route) {
        self.keep_route(page.name, route);
        self.set_open(true);
    }

    /// Shows the conversation that the user had before next to a page, if there is room for both.
    pub(super) fn carry_over(self, page: &'static PageInfo, route: Route) {
        self.keep_route(page.name, route);
        self.set_open(!browser::matches_media(COVERING_QUERY));
        // The user came for the page, so the tray must not take the focus.
        self.was_restored.set_value(true);
    }

    fn keep_route(self, page: &'static str, route: Route) {
        browser::storage_set(&route_key(page), Some(&route.path()));
        self.set_route(page, route);
    }

    fn set_route(self, page: &'static str, route: Route) {
        self.routes.update(|routes| {
            routes.retain(|(name, _)| *name != page);
            routes.push((page, route));
        });
    }

    /// Returns true if it is open. Tracked.
    pub fn is_open(self) -> bool {
        self.is_open.get()
    }

    /// Opens it if it is closed, and the other way round.
    pub fn toggle(self) {
        if self.is_open.get_untracked() {
            self.close();
        } else {
            self.set_open(true);
        }
    }

    /// Opens or closes it.
    pub fn set_open(self, open: bool) {
        browser::storage_set(OPEN_KEY, open.then_some("yes"));
        self.was_restored.set_value(false);
        self.is_fullscreen
            .set(open && browser::matches_media(NARROW_QUERY));
        if self.is_open.get_untracked() != open {
            self.is_open.set(open);
        }
    }

    /// Closes it and moves the focus out of it.
    pub fn close(self) {
        let was_within = browser::has_focus_in(".tray");
        self.set_open(false);
        if was_within {
            browser::on_next_frame(|| browser::focus_selector("#tray-open"));
        }
    }

    /// Returns true if the message input should take the focus when it appears: not if the tray was only restored.
    pub fn should_take_focus(self) -> bool {
        !self
            .was_restored
            .try_update_value(std::mem::take)
            .unwrap_or_default()
    }

    /// Closes the tray if it covers the page, to show something on the page.
    pub fn close_if_covering(self) {
        if untrack(|| self.is_covering_page()) {
            self.set_open(false);
        }
    }

    /// Returns true if it covers the whole screen while it is open. Tracked.
    pub fn is_fullscreen(self) -> bool {
        self.is_fullscreen.get()
    }

    /// Adapts to a new width of the window.
    pub fn fit_to_window(self) {
        self.is_fullscreen.set(browser::matches_media(NARROW_QUERY));
    }

    /// The page that the chat is about, while that page is shown. Tracked.
    pub fn tray_page(self) -> Option<TrayPage> {
        self.tray_page.get()
    }

    /// Sets the page that the chat is about, for as long as the current owner lives.
    pub fn set_tray_page(self, page: TrayPage) {
        self.tray_page.set(Some(page));
        on_cleanup(move || self.tray_page.set(None));
    }

    /// The context of a message that is written now. Not tracked.
    pub fn page_context(self) -> Option<PageContext> {
        let page = self.tray_page.get_untracked()?;
        Some(untrack(|| page.context.run(())))
    }

    /// Returns true if nothing on the page can be reached.
    pub fn is_covering_page(self) -> bool {
        self.is_fullscreen.get() && self.is_open.get()
    }
}

/// The page's tray.
pub fn use_tray() -> Tray {
    expect_context()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::pages;
    use parlor_protocol::ConversationId;

    #[test]
    fn each_page_has_its_own_conversation() {
        let owner = Owner::new();
        owner.with(|| {
            let tray = Tray::new();
            let [literature, data] = [pages()[0].info, pages()[1].info];
            let talk = Route::Conversation(ConversationId::new());
            tray.show(literature, talk);
            assert_eq!(untrack(|| tray.chat_route(Route::Page(literature))), talk);
            assert_eq!(untrack(|| tray.chat_route(Route::Page(data))), Route::New);
            tray.close();
            assert_eq!(
                untrack(|| tray.chat_route(Route::Page(literature))),
                Route::Page(literature),
                "a closed tray shows none"
            );
        });
    }
}
