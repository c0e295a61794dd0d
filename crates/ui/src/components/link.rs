//! Links in texts: those that leave Parlor, and those to its pages.

use leptos::prelude::*;

/// The `rel` of external links: the target cannot access this page and gets no referrer, and the link does not vouch
/// for it.
pub const EXTERNAL_LINK_REL: &str = "noopener noreferrer nofollow";

/// Opens links to pages of Parlor. A reader of a share, who has none of them, has no such context either.
#[derive(Clone, Copy)]
pub struct PageLinks {
    /// Returns true for the URL of a page.
    pub is_page: Callback<String, bool>,
    /// Opens the URL of a page, with the conversation beside it.
    pub open: Callback<String>,
}
