//! What the assistant proposes for this page, and can have it do when the person presses a button.

use std::sync::Arc;

use leptos::prelude::*;
use serde::Deserialize;

use super::{desk::Desk, search::BOX};
use crate::{
    protocol::{
        PanelView, json,
        literature::{Address, Tab},
        panel::PanelBody,
    },
    ui::{
        actions::{Action, Pressed},
        browser,
        own::use_page,
        panel::{handlers::Handler, use_panel},
        tray::use_tray,
    },
};

/// What goes with the action `open_article`.
#[derive(Deserialize)]
struct ToOpen {
    pmid: String,
}

/// As long as the page is shown.
pub fn register(desk: Desk) {
    let (page, panel, tray) = (use_page(), use_panel(), use_tray());
    page.handlers.add(Handler {
        accept: Some(Callback::new(move |view: Arc<PanelView>| {
            take_up(desk, &view);
            panel.close();
            tray.make_way();
            browser::next_frame(|| browser::focus_selector(BOX));
        })),
        ..Handler::new("query_suggestion", "Suggested query", 420)
    });
    page.actions.add(Action {
        name: "open_article",
        perform: Callback::new(move |pressed: Pressed| {
            let data = pressed.data.unwrap_or_default();
            let Ok(ToOpen { pmid }) = json::read(data.as_bytes()) else {
                return false;
            };
            let here = desk.address.get_untracked();
            desk.go(&Address {
                article: Some(pmid),
                ..here
            });
            tray.make_way();
            true
        }),
    });
    page.actions.add(Action {
        name: "close_chat",
        perform: Callback::new(move |_| {
            tray.close();
            true
        }),
    });
}

/// Puts a query into the box, and searches.
fn take_up(desk: Desk, view: &PanelView) {
    if let PanelBody::Query(suggestion) = &view.body {
        let here = desk.address.get_untracked();
        desk.go(&Address {
            tab: Tab::Search,
            query: suggestion.query.clone(),
            sort: here.sort,
            ..Address::default()
        });
    }
}
