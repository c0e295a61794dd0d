//! How a payload is presented, by its type. What is in it is shown by what the server made of it ([`PanelBody`]).
//!
//! A page that has types of its own, or takes up what is proposed to it, registers handlers of its own with
//! `use_page().handlers.add(…)`, which are looked up before these.
//!
//! [`PanelBody`]: crate::protocol::panel::PanelBody

use std::sync::Arc;

use leptos::prelude::*;

use crate::{protocol::PanelView, ui::own::PageOwn};

/// What a page does with a proposal.
pub type Does = Callback<Arc<PanelView>>;

/// How payloads of a type are presented.
#[derive(Clone, Copy, Debug)]
pub struct Handler {
    pub kind: &'static str,
    /// The panel's title.
    pub title: &'static str,
    /// The panel's width, until somebody makes it another one.
    pub width: u32,
    /// What accepting and rejecting does on the page. Without it, the person's choice is remembered, and that is all.
    pub accept: Option<Does>,
    pub reject: Option<Does>,
}

impl Handler {
    pub const fn new(kind: &'static str, title: &'static str, width: u32) -> Self {
        Self {
            kind,
            title,
            width,
            accept: None,
            reject: None,
        }
    }
}

static HANDLERS: [Handler; 7] = [
    Handler::new("chart", "Chart", 560),
    Handler::new("pubmed_article", "Article", 480),
    Handler::new("pubmed_search_results", "Articles", 520),
    Handler::new("query_suggestion", "Suggested query", 420),
    Handler::new("table", "Table", 640),
    Handler::new("text_document", "Document", 600),
    Handler::new("web_search_results", "Search results", 480),
];

/// For what nobody knows.
static OTHER: Handler = Handler::new("other", "Data", 480);

/// The handler of a type: the page's, or else the one of every page.
pub fn of(page: &PageOwn, kind: &str) -> Handler {
    let everywhere = || HANDLERS.iter().find(|handler| handler.kind == kind);
    page.handlers
        .find(|handler| handler.kind == kind)
        .unwrap_or_else(|| *everywhere().unwrap_or(&OTHER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_s_handler_comes_before_that_of_every_page() {
        let owner = Owner::new();
        owner.set();
        let page = PageOwn::new();
        assert_eq!(of(&page, "query_suggestion").title, "Suggested query");
        let accept = Some(Callback::new(|_| {}));
        let query = Handler::new("query_suggestion", "Query for PubMed", 500);
        page.handlers.add(Handler { accept, ..query });
        let own = of(&page, "query_suggestion");
        assert_eq!((own.title, own.accept.is_some()), ("Query for PubMed", true));
        assert_eq!(of(&page, "table").title, "Table");
        assert_eq!(of(&page, "unheard_of").title, "Data");
    }
}
