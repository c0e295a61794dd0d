//! The registered pages in the browser. `src/server/built_in.rs` registers their server code.

use std::sync::OnceLock;

use super::{data, literature, reports, schedules, state::page_registry::PageEntry, streams};

/// All pages, in the order of their links.
static PAGES: OnceLock<Vec<PageEntry>> = OnceLock::new();

/// The pages of Parlor itself: one line each.
fn built_in() -> Vec<PageEntry> {
    vec![
        literature::PAGE,
        data::PAGE,
        streams::LIST_PAGE,
        streams::EDIT_PAGE,
        reports::PAGE,
        schedules::PAGE,
    ]
}

/// Returns all pages, in the order of their links.
pub fn pages() -> &'static [PageEntry] {
    PAGES.get_or_init(built_in)
}

/// Adds pages after those of Parlor: in the browser and on the server, before the first page is shown. Returns false if it is too
/// late for that.
pub fn add_pages(more: impl IntoIterator<Item = PageEntry>) -> bool {
    PAGES.set(built_in().into_iter().chain(more).collect()).is_ok()
}
