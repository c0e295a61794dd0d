//! The registered pages in the browser: one line each. `src/server/built_in.rs` registers their server code.

use super::{data, literature, state::page_registry::PageEntry};

/// All pages, in the order of their links.
pub static PAGES: &[PageEntry] = &[literature::PAGE, data::PAGE];
