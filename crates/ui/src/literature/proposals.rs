//! The assistant's proposals for this page.

use leptos::prelude::*;

use super::{search::QUERY_INPUT, state::LiteratureState, texts};
use crate::{
    browser,
    panel::use_panel,
    state::{
        page_registry::{AcceptedChanges, OtherPage, PayloadHandler, use_page_registry},
        tray::use_tray,
    },
};
use parlor_protocol::{
    literature::{LiteratureLocation, LiteratureTab, QueryProposal},
    panel::PanelBody,
};

/// A proposed query on another page.
pub const QUERY_HANDLER: PayloadHandler = PayloadHandler {
    other_page: Some(OtherPage {
        button_label: texts::SEARCH_HERE,
        description: texts::SEARCH_HERE_HINT,
        url: |accepted| {
            let location = LiteratureLocation {
                query: proposed_query(accepted)?,
                ..LiteratureLocation::default()
            };
            Some(location.to_url())
        },
    }),
    ..PayloadHandler::proposal::<QueryProposal>(420)
};

fn proposed_query(accepted: &AcceptedChanges) -> Option<String> {
    match &accepted.view.body {
        PanelBody::Proposal(proposal) => Some(proposal.fields.first()?.change.text.clone()),
        _ => None,
    }
}

/// Accepts proposed queries for as long as the page is shown.
pub fn register(state: LiteratureState) {
    let (page, panel, tray) = (use_page_registry(), use_panel(), use_tray());
    page.handlers.register(PayloadHandler {
        accept: Some(Callback::new(move |accepted: AcceptedChanges| {
            run_suggested_query(state, &accepted);
            panel.close();
            tray.close_if_covering();
            browser::on_next_frame(|| browser::focus_selector(QUERY_INPUT));
        })),
        ..QUERY_HANDLER
    });
}

/// Puts a query into the box and searches.
fn run_suggested_query(state: LiteratureState, accepted: &AcceptedChanges) {
    if let Some(query) = proposed_query(accepted) {
        let here = state.location.get_untracked();
        state.go_to(&LiteratureLocation {
            tab: LiteratureTab::Search,
            query,
            sort: here.sort,
            ..LiteratureLocation::default()
        });
    }
}
