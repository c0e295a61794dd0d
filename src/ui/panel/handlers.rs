//! How a payload is presented, by its type. What is in it is shown by what the server made of it ([`PanelBody`]).
//!
//! A page that has types of its own, or takes up what is proposed to it, registers handlers of its own with
//! `use_page().handlers.add(…)`, which are looked up before these.
//!
//! [`PanelBody`]: crate::protocol::panel::PanelBody

use std::sync::Arc;

use leptos::prelude::*;

use crate::{
    protocol::{PanelView, literature::Address, panel::PanelBody},
    ui::own::PageOwn,
};

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
    /// The page that can accept it, where the present one can't.
    pub elsewhere: Option<Elsewhere>,
}

/// Another page, on which a proposal is accepted.
#[derive(Clone, Copy, Debug)]
pub struct Elsewhere {
    /// The button's words.
    pub accept: &'static str,
    /// Its effect, in a sentence.
    pub about: &'static str,
    /// The address that takes it up.
    pub address: fn(&PanelView) -> Option<String>,
}

impl Handler {
    pub const fn new(kind: &'static str, title: &'static str, width: u32) -> Self {
        Self {
            kind,
            title,
            width,
            accept: None,
            reject: None,
            elsewhere: None,
        }
    }
}

/// A query is searched for on the page *Literature*.
const IN_LITERATURE: Elsewhere = Elsewhere {
    accept: "Search in Literature",
    about: "This takes you to the page Literature, and this conversation with you.",
    address: |proposal| match &proposal.body {
        PanelBody::Query(suggestion) => {
            let query = suggestion.query.clone();
            let address = Address {
                query,
                ..Address::default()
            };
            Some(address.path())
        }
        _ => None,
    },
};

static HANDLERS: [Handler; 7] = [
    Handler::new("chart", "Chart", 560),
    Handler::new("pubmed_article", "Article", 480),
    Handler::new("pubmed_search_results", "Articles", 520),
    Handler {
        elsewhere: Some(IN_LITERATURE),
        ..Handler::new("query_suggestion", "Suggested query", 420)
    },
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
    use crate::protocol::panel::QuerySuggestion;

    #[test]
    fn a_query_is_accepted_on_the_page_that_searches() {
        let owner = Owner::new();
        owner.set();
        let elsewhere = of(&PageOwn::new(), "query_suggestion").elsewhere.expect("a page");
        let proposal = PanelView {
            summary: String::new(),
            is_proposal: true,
            obstacle: None,
            body: PanelBody::Query(QuerySuggestion {
                query: "tides[ti]".into(),
                explanation: None,
            }),
        };
        assert_eq!(
            (elsewhere.address)(&proposal).as_deref(),
            Some("/literature?q=tides%5Bti%5D")
        );
    }

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
