//! The current address and its routes, and the means to change them.

use leptos::prelude::*;

use super::{page_registry::PageEntry, route::Route, tray::Tray};
use crate::{protocol::ConversationId, ui::browser};

/// The navigation. Lives as long as the page.
#[derive(Clone, Copy)]
pub struct Navigation {
    address: RwSignal<String>,
    /// The address of the previous page.
    previous_address: RwSignal<String>,
    page_route: Memo<Route>,
    chat_route: Memo<Route>,
    tray: Tray,
}

impl Navigation {
    /// Starts at an address, which may be one of these pages.
    pub fn new(address: String, pages: &'static [PageEntry], tray: Tray) -> Self {
        let address = RwSignal::new(address);
        let page_route = Memo::new(move |_| address.with(|address| Route::parse(address, pages)));
        Self {
            address,
            previous_address: RwSignal::new(Route::New.path()),
            page_route,
            chat_route: Memo::new(move |_| tray.chat_route(page_route.get())),
            tray,
        }
    }

    /// Keeps the previous page's address up to date.
    pub fn start(self) {
        Effect::new(move |before: Option<(Route, String)>| {
            let here = (self.page_route.get(), self.address.get());
            if let Some((page, address)) = before
                && page != here.0
            {
                self.previous_address.set(address);
            }
            here
        });
    }

    /// The chat beside a page.
    pub fn tray(self) -> Tray {
        self.tray
    }

    /// The route of the page.
    pub fn page_route(self) -> Memo<Route> {
        self.page_route
    }

    /// The route of the conversation on the screen: in the tray, or the page's own.
    pub fn chat_route(self) -> Memo<Route> {
        self.chat_route
    }

    /// The conversation on the screen. Not tracked.
    pub fn shown_conversation(self) -> Option<ConversationId> {
        self.chat_route.get_untracked().conversation_id()
    }

    /// Reads the page's address. Tracked.
    pub fn with_address<T>(self, read: impl FnOnce(&String) -> T) -> T {
        self.address.with(read)
    }

    /// The address of the previous page. Tracked.
    pub fn previous_address(self) -> String {
        self.previous_address.get()
    }

    /// Navigates to an address; with `replace`, in place of the present entry of the browser's history.
    pub fn set_address(self, address: String, replace: bool) {
        browser::set_address(&address, replace);
        self.address.set(address);
    }

    /// Follows the browser, which has navigated already.
    pub fn follow_browser(self, address: String) {
        self.address.set(address);
    }

    /// Navigates to a route. Beside a page with a tray, the conversation is shown there.
    pub fn go_to(self, route: Route) {
        self.navigate(route, false);
    }

    /// Navigates to a route in place of the present one.
    pub fn replace(self, route: Route) {
        self.navigate(route, true);
    }

    fn navigate(self, route: Route, replace: bool) {
        if self.page_route.get_untracked().has_tray() {
            self.tray.show(route);
        } else {
            self.set_address(route.path(), replace);
        }
    }
}
