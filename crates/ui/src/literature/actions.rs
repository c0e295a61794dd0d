//! The assistant's proposals for this page, and the actions that run when the user presses a button.

use std::sync::Arc;

use leptos::prelude::*;
use serde::Deserialize;

use super::{search::QUERY_INPUT, state::LiteratureState};
use crate::{
    browser,
    panel::use_panel,
    state::{
        page_registry::{OtherPage, PageAction, PayloadHandler, PressedAction, use_page_registry},
        tray::use_tray,
    },
};
use parlor_protocol::{
    PanelView, json,
    literature::{LiteratureLocation, LiteratureTab},
    panel::PanelBody,
};

/// A proposed query on another page.
pub const QUERY_HANDLER: PayloadHandler = PayloadHandler {
    other_page: Some(OtherPage {
        button_label: "Search in Literature",
        description: "This opens the page Literature, together with this conversation.",
        url: |proposal| match &proposal.body {
            PanelBody::Query(suggestion) => {
                let query = suggestion.query.clone();
                let location = LiteratureLocation {
                    query,
                    ..LiteratureLocation::default()
                };
                Some(location.to_url())
            }
            _ => None,
        },
    }),
    ..PayloadHandler::new("query_suggestion", "Suggested query", 420)
};

/// The data of the action `open_article`.
#[derive(Deserialize)]
struct OpenArticleData {
    pmid: String,
}

/// Registers the actions for as long as the page is shown.
pub fn register(state: LiteratureState) {
    let (page, panel, tray) = (use_page_registry(), use_panel(), use_tray());
    page.handlers.register(PayloadHandler {
        accept: Some(Callback::new(move |view: Arc<PanelView>| {
            run_suggested_query(state, &view);
            panel.close();
            tray.close_if_covering();
            browser::on_next_frame(|| browser::focus_selector(QUERY_INPUT));
        })),
        ..QUERY_HANDLER
    });
    page.actions.register(PageAction {
        name: "open_article",
        perform: Callback::new(move |pressed: PressedAction| {
            let data = pressed.data.unwrap_or_default();
            let Ok(OpenArticleData { pmid }) = json::parse(data.as_bytes()) else {
                return false;
            };
            let here = state.location.get_untracked();
            state.go_to(&LiteratureLocation {
                article: Some(pmid),
                ..here
            });
            tray.close_if_covering();
            true
        }),
    });
    page.actions.register(PageAction {
        name: "close_chat",
        perform: Callback::new(move |_| {
            tray.close();
            true
        }),
    });
}

/// Puts a query into the box and searches.
fn run_suggested_query(state: LiteratureState, view: &PanelView) {
    if let PanelBody::Query(suggestion) = &view.body {
        let here = state.location.get_untracked();
        state.go_to(&LiteratureLocation {
            tab: LiteratureTab::Search,
            query: suggestion.query.clone(),
            sort: here.sort,
            ..LiteratureLocation::default()
        });
    }
}
