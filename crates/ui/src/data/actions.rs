//! The actions that run when the user presses a button of the assistant.

use leptos::prelude::*;
use serde::Deserialize;

use super::state::DataState;
use crate::state::{
    page_registry::{PageAction, PressedAction, use_page_registry},
    tray::use_tray,
};
use parlor_protocol::{data::DataLocation, json};

/// The data of the action `open_table`.
#[derive(Deserialize)]
struct OpenTableData {
    table: String,
    #[serde(default)]
    database: Option<String>,
}

/// Registers the actions for as long as the page is shown.
pub fn register(state: DataState) {
    let tray = use_tray();
    let registry = use_page_registry();
    registry.actions.register(PageAction {
        name: "open_table",
        perform: Callback::new(move |pressed: PressedAction| {
            let data = pressed.data.unwrap_or_default();
            let Ok(OpenTableData { table, database }) = json::parse(data.as_bytes()) else {
                return false;
            };
            let only = untrack(|| {
                state.with_catalogue(|catalogue| match &catalogue.databases[..] {
                    [only] => Some(only.name.clone()),
                    _ => None,
                })
            });
            let Some(database) = database.filter(|name| !name.is_empty()).or(only) else {
                return false;
            };
            state.go_to(&DataLocation::of_table(&database, &table));
            tray.close_if_covering();
            true
        }),
    });
    registry.actions.register(PageAction {
        name: "close_chat",
        perform: Callback::new(move |_| {
            tray.close();
            true
        }),
    });
}
