//! The presentation of a payload, by its type. The server decides the content ([`PanelBody`]).
//!
//! A page with types of its own has handlers in its [`PageEntry`], for other pages. While it is shown, it registers others
//! with `use_page_registry().handlers.register(…)`, such as one that accepts proposals. These take precedence.
//!
//! [`PanelBody`]: parlor_protocol::panel::PanelBody
//! [`PageEntry`]: crate::state::page_registry::PageEntry

use super::texts;
use crate::state::page_registry::{PageRegistry, PayloadHandler};

static COMMON_HANDLERS: [PayloadHandler; 6] = [
    PayloadHandler::new("chart", texts::CHART, 560),
    PayloadHandler::new("pubmed_article", texts::ARTICLE, 480),
    PayloadHandler::new("pubmed_search_results", texts::ARTICLES, 520),
    PayloadHandler::new("table", texts::TABLE, 640),
    PayloadHandler::new("text_document", texts::DOCUMENT, 600),
    PayloadHandler::new("web_search_results", texts::SEARCH_RESULTS, 480),
];

/// The handler for unknown types.
static FALLBACK_HANDLER: PayloadHandler = PayloadHandler::new("other", texts::DATA, 480);

/// The handler of a type: that of the shown page, or else of any page, or else the common one.
pub fn handler_for(registry: &PageRegistry, kind: &str) -> PayloadHandler {
    let of_kind = |handler: &PayloadHandler| handler.kind == kind;
    let elsewhere = || {
        let mut pages = registry.pages.iter().flat_map(|page| page.handlers);
        pages.find(|handler| of_kind(handler))
    };
    let everywhere = || COMMON_HANDLERS.iter().find(|handler| of_kind(handler));
    registry
        .handlers
        .find(of_kind)
        .unwrap_or_else(|| *elsewhere().or_else(everywhere).unwrap_or(&FALLBACK_HANDLER))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use leptos::prelude::*;

    use super::*;
    use crate::{
        pages::pages,
        panel::content::payload_body,
        runtime::erase::Erase,
        state::page_registry::{AcceptedChanges, ShownPayload},
    };
    use parlor_protocol::{
        ConversationId, PanelView, PayloadRef,
        draft::FieldChange,
        panel::{PanelBody, ProposalView, ProposedField},
    };

    fn query_body() -> PanelBody {
        let query = "tides[ti]";
        PanelBody::Proposal(ProposalView {
            kind: "query_suggestion".into(),
            draft: "stream".into(),
            fields: vec![ProposedField {
                change: FieldChange::new("query", "Query", query.into(), &query),
                base: None,
            }],
            explanation: None,
        })
    }

    #[test]
    fn queries_are_accepted_by_the_literature_page() {
        let owner = Owner::new();
        owner.set();
        let elsewhere = handler_for(&PageRegistry::new(pages()), "query_suggestion")
            .other_page
            .expect("a page");
        let proposal = PanelView {
            summary: String::new(),
            is_proposal: true,
            obstacle: None,
            body: query_body(),
        };
        assert_eq!(
            (elsewhere.url)(&AcceptedChanges {
                view: Arc::new(proposal),
                changes: Vec::new(),
            })
            .as_deref(),
            Some("/literature?q=tides%5Bti%5D")
        );
    }

    #[test]
    fn page_handler_overrides_common_handler() {
        let owner = Owner::new();
        owner.set();
        let page = PageRegistry::new(pages());
        assert_eq!(handler_for(&page, "query_suggestion").title, "Suggested query");
        let accept = Some(Callback::new(|_| {}));
        let query = PayloadHandler::new("query_suggestion", "Query for PubMed", 500);
        page.handlers.register(PayloadHandler { accept, ..query });
        let own = handler_for(&page, "query_suggestion");
        assert_eq!((own.title, own.accept.is_some()), ("Query for PubMed", true));
        assert_eq!(handler_for(&page, "table").title, "Table");
        assert_eq!(handler_for(&page, "unheard_of").title, "Data");
    }

    #[test]
    fn page_handler_brings_its_own_view() {
        let owner = Owner::new();
        owner.set();
        let page = PageRegistry::new(pages());
        let shown = ShownPayload {
            conversation_id: ConversationId::new(),
            payload: PayloadRef {
                payload_id: "abc12345".into(),
                kind: "drawer".into(),
                summary: "Drawer 1".into(),
                preview_rows: None,
            },
        };
        let view = Arc::new(PanelView {
            summary: "Drawer 1".into(),
            is_proposal: false,
            obstacle: None,
            body: query_body(),
        });
        let render = || payload_body(&handler_for(&page, "drawer"), &shown, &view).to_html();
        assert!(render().contains("tides[ti]"));
        page.handlers.register(PayloadHandler {
            view: Some(Callback::new(|(shown, view): (ShownPayload, Arc<PanelView>)| {
                view! { <p>{shown.payload.payload_id} ": " {view.summary.clone()}</p> }.erase()
            })),
            ..PayloadHandler::new("drawer", "Drawer", 480)
        });
        let html = render();
        assert!(html.contains("abc12345") && html.contains("Drawer 1"), "{html}");
        assert!(!html.contains("tides[ti]"), "{html}");
    }
}
