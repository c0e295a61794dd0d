//! The current URL and its routes, and the means to change them.

use leptos::prelude::*;

use crate::runtime::effect::effect;

use super::{page_registry::PageEntry, route::Route, tray::Tray};
use crate::browser;
use parlor_protocol::ConversationId;

/// The navigation. Lives as long as the page.
#[derive(Clone, Copy)]
pub struct Navigation {
    url: RwSignal<String>,
    /// The URL of the previous page.
    previous_url: RwSignal<String>,
    page_route: Memo<Route>,
    chat_route: Memo<Route>,
    tray: Tray,
    pages: &'static [PageEntry],
}

impl Navigation {
    /// Starts at a URL, which may be one of these pages.
    pub fn new(url: String, pages: &'static [PageEntry], tray: Tray) -> Self {
        let url = RwSignal::new(url);
        let page_route = Memo::new(move |_| url.with(|url| Route::parse(url, pages)));
        Self {
            url,
            previous_url: RwSignal::new(Route::New.path()),
            page_route,
            chat_route: Memo::new(move |_| tray.chat_route(page_route.get())),
            tray,
            pages,
        }
    }

    /// Keeps the previous page's URL up to date.
    pub fn start(self) {
        Effect::new(move |before: Option<(Route, String)>| {
            let here = (self.page_route.get(), self.url.get());
            let is_settings = |page: &Route| matches!(page, Route::Settings(_));
            if let Some((page, url)) = before
                && page != here.0
                && !(is_settings(&page) && is_settings(&here.0))
            {
                self.previous_url.set(url);
            }
            here
        });
    }

    /// The chat next to a page.
    pub fn tray(self) -> Tray {
        self.tray
    }

    /// The route of the page.
    pub fn page_route(self) -> Memo<Route> {
        self.page_route
    }

    /// Clears a signal whenever another route is shown: what a dialog is open for, for example.
    pub fn clear_when_leaving<T: Send + Sync + 'static>(self, signal: RwSignal<Option<T>>) {
        effect(move || {
            self.chat_route.track();
            signal.set(None);
        });
    }

    /// The route of the conversation on the screen: in the tray, or the page's own.
    pub fn chat_route(self) -> Memo<Route> {
        self.chat_route
    }

    /// The conversation on the screen. Not tracked.
    pub fn shown_conversation(self) -> Option<ConversationId> {
        self.chat_route.get_untracked().conversation_id()
    }

    /// Reads the page's URL. Tracked.
    pub fn with_url<T>(self, read: impl FnOnce(&String) -> T) -> T {
        self.url.with(read)
    }

    /// The URL of the previous page. Tracked.
    pub fn previous_url(self) -> String {
        self.previous_url.get()
    }

    /// Navigates to a URL; with `replace`, in place of the present entry of the browser's history.
    pub fn set_url(self, url: String, replace: bool) {
        browser::set_url(&url, replace);
        self.url.set(url);
    }

    /// Follows the browser, which has navigated already.
    pub fn follow_browser(self, url: String) {
        self.url.set(url);
    }

    /// Navigates to a route. On a page with a tray, the conversation is shown in the tray.
    pub fn go_to(self, route: Route) {
        self.navigate(route, false);
    }

    /// Navigates to a route in place of the present one.
    pub fn replace(self, route: Route) {
        self.navigate(route, true);
    }

    fn navigate(self, route: Route, replace: bool) {
        match self.page_route.get_untracked() {
            Route::Page(page) if page.has_tray => self.tray.show(page, route),
            _ => self.set_url(route.path(), replace),
        }
    }

    /// Returns true if a URL belongs to a registered page.
    pub fn is_page_url(self, url: &str) -> bool {
        matches!(Route::parse(url, self.pages), Route::Page(_))
    }

    /// Opens a URL of a page. On another page, the conversation on the screen goes along, beside it. Returns false if no page
    /// has the URL.
    pub fn open_page(self, url: String) -> bool {
        if !self.is_page_url(&url) {
            return false;
        }
        let (page, chat) = (self.page_route.get_untracked(), self.chat_route.get_untracked());
        self.set_url(url, false);
        if self.page_route.get_untracked() == page {
            self.tray.close_if_covering();
        } else {
            self.carry_over(chat);
        }
        true
    }

    /// Shows the conversation of the page that the user came from next to the present one.
    pub fn carry_over(self, route: Route) {
        if let Route::Page(page) = self.page_route.get_untracked() {
            self.tray.carry_over(page, route);
        }
    }
}
