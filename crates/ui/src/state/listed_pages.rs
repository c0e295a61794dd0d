//! The pages that the sidebar links to: those that can do something for the user, and those that were opened since.

use leptos::{prelude::*, task::spawn_local};

use super::{connection::Connection, navigation::Navigation, route::Route};
use crate::{api::rpc, runtime::requests::LastRequest};
use parlor_protocol::{ApiError, PageInfo};

/// The listed pages, by name. One store per page.
#[derive(Clone, Copy)]
pub struct ListedPages {
    useful: RwSignal<Vec<String>>,
    opened: RwSignal<Vec<&'static str>>,
    connection: Connection,
    requests: LastRequest,
}

impl ListedPages {
    pub(super) fn new(useful: Result<Vec<String>, ApiError>, connection: Connection) -> Self {
        Self {
            useful: RwSignal::new(useful.unwrap_or_default()),
            opened: RwSignal::default(),
            connection,
            requests: LastRequest::new(),
        }
    }

    /// Returns true if the sidebar links to a page. Tracked.
    pub fn has(self, page: &PageInfo) -> bool {
        let is_useful = self
            .useful
            .with(|names| names.iter().any(|name| name == page.name));
        is_useful || self.opened.with(|names| names.contains(&page.name))
    }

    /// Keeps each page that is opened from now on.
    pub(super) fn follow(self, navigation: Navigation) {
        let route = navigation.page_route();
        let note = move || {
            if let Route::Page(page) = route.get()
                && !self.opened.with_untracked(|names| names.contains(&page.name))
            {
                self.opened.update(|names| names.push(page.name));
            }
        };
        untrack(note);
        Effect::new(move |_| note());
    }

    /// Asks the server again which pages can do something.
    pub(super) fn reload(self) {
        let number = self.requests.begin();
        spawn_local(async move {
            let loaded = self.connection.call(rpc::listed_pages()).await;
            if let Ok(names) = loaded
                && self.requests.is_last(number)
            {
                self.useful.try_set(names);
            }
        });
    }
}
