//! The presentation of a payload, by its type. The server decides the content ([`PanelBody`]).
//!
//! A page with types of its own, or one that accepts proposals, registers handlers with
//! `use_page_registry().handlers.register(…)`. They take precedence over the handlers here.
//!
//! [`PanelBody`]: crate::protocol::panel::PanelBody

use std::sync::Arc;

use leptos::prelude::*;

use crate::{
    protocol::PanelView, protocol::literature::LiteratureLocation, protocol::panel::PanelBody,
    ui::state::page_registry::PageRegistry,
};

/// Handles a proposal on a page.
pub type ProposalCallback = Callback<Arc<PanelView>>;

/// The presentation of a payload type.
#[derive(Clone, Copy, Debug)]
pub struct PayloadHandler {
    pub kind: &'static str,
    /// The panel's title.
    pub title: &'static str,
    /// The panel's default width.
    pub width: u32,
    /// The page's actions for Accept and Reject. Without them, only the verdict is stored.
    pub accept: Option<ProposalCallback>,
    pub reject: Option<ProposalCallback>,
    /// The page that can accept the proposal if the present one can't.
    pub other_page: Option<OtherPage>,
}

/// Another page, on which a proposal is accepted.
#[derive(Clone, Copy, Debug)]
pub struct OtherPage {
    /// The label of the button.
    pub button_label: &'static str,
    /// A sentence about its effect.
    pub description: &'static str,
    /// The address that opens the proposal there.
    pub address: fn(&PanelView) -> Option<String>,
}

impl PayloadHandler {
    pub const fn new(kind: &'static str, title: &'static str, width: u32) -> Self {
        Self {
            kind,
            title,
            width,
            accept: None,
            reject: None,
            other_page: None,
        }
    }
}

/// A query runs on the page *Literature*.
const LITERATURE_PAGE: OtherPage = OtherPage {
    button_label: "Search in Literature",
    description: "This opens the page Literature, together with this conversation.",
    address: |proposal| match &proposal.body {
        PanelBody::Query(suggestion) => {
            let query = suggestion.query.clone();
            let address = LiteratureLocation {
                query,
                ..LiteratureLocation::default()
            };
            Some(address.to_address())
        }
        _ => None,
    },
};

static COMMON_HANDLERS: [PayloadHandler; 7] = [
    PayloadHandler::new("chart", "Chart", 560),
    PayloadHandler::new("pubmed_article", "Article", 480),
    PayloadHandler::new("pubmed_search_results", "Articles", 520),
    PayloadHandler {
        other_page: Some(LITERATURE_PAGE),
        ..PayloadHandler::new("query_suggestion", "Suggested query", 420)
    },
    PayloadHandler::new("table", "Table", 640),
    PayloadHandler::new("text_document", "Document", 600),
    PayloadHandler::new("web_search_results", "Search results", 480),
];

/// The handler for unknown types.
static FALLBACK_HANDLER: PayloadHandler = PayloadHandler::new("other", "Data", 480);

/// The handler of a type: the page's own, or else the common one.
pub fn handler_for(page: &PageRegistry, kind: &str) -> PayloadHandler {
    let everywhere = || COMMON_HANDLERS.iter().find(|handler| handler.kind == kind);
    page.handlers
        .find(|handler| handler.kind == kind)
        .unwrap_or_else(|| *everywhere().unwrap_or(&FALLBACK_HANDLER))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::panel::QuerySuggestion;

    #[test]
    fn queries_are_accepted_by_the_literature_page() {
        let owner = Owner::new();
        owner.set();
        let elsewhere = handler_for(&PageRegistry::new(), "query_suggestion")
            .other_page
            .expect("a page");
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
    fn page_handler_overrides_common_handler() {
        let owner = Owner::new();
        owner.set();
        let page = PageRegistry::new();
        assert_eq!(handler_for(&page, "query_suggestion").title, "Suggested query");
        let accept = Some(Callback::new(|_| {}));
        let query = PayloadHandler::new("query_suggestion", "Query for PubMed", 500);
        page.handlers.register(PayloadHandler { accept, ..query });
        let own = handler_for(&page, "query_suggestion");
        assert_eq!((own.title, own.accept.is_some()), ("Query for PubMed", true));
        assert_eq!(handler_for(&page, "table").title, "Table");
        assert_eq!(handler_for(&page, "unheard_of").title, "Data");
    }
}
