//! The registered pages in the browser: one line each. `src/server/built_in.rs` registers their server code.

use super::{data, literature, state::page_registry::PageEntry, streams};

/// All pages, in the order of their links.
pub static PAGES: &[PageEntry] = &[
    literature::PAGE,
    data::PAGE,
    streams::LIST_PAGE,
    streams::EDIT_PAGE,
];
