//! The page: Leptos components, the state that they read, and the small boundary to the browser.
//!
//! The folders in the order of their dependencies, each depending on those above it:
//!
//! - [`browser`]: the browser's functions, and stubs for the server; the only module that knows for which target it is compiled
//! - [`runtime`]: helpers of views and state: erased views, keyed lists, lazily loaded code, the clock
//! - [`components`]: small views that every feature uses
//! - [`markdown`]: Markdown that grows with a streaming answer, and its views
//! - [`state`]: the stores of the client state, which the event stream keeps up to date, and the intents that change it
//! - [`commands`]: the table of keyboard shortcuts, and the registry of the actions that the palette offers
//! - [`grid`]: rows with many columns, sorted, filtered and read with the keyboard
//! - [`preferences`]: the controls of what this browser stores: theme, notifications
//! - [`fields`]: fields of forms that several pages have
//! - [`columns`]: questions about the rows of a grid, with their answers
//! - [`files`]: the views of files, and of the text and tables of documents
//! - [`schedules`]: the page of the schedules, which a message of a conversation can begin
//! - [`projects`]: the page of a project, and the dialogs of projects
//! - [`panel`], [`diagnostics`], [`transcript`], [`composer`], [`sharing`], [`sidebar`], [`home`], [`settings`], [`literature`], [`streams`], [`reports`], [`data`],
//!   [`tray`]: one folder a feature
//! - [`palette`]: finds conversations and actions by name; the sheet of shortcuts
//! - [`pages`]: the list of the features that are pages
//! - [`layout`]: the page around them
//! - `design`: the page `/design` of development builds, with every component
//!
//! `make lint` fails if some of them import each other in a circle. Events are interpreted in `protocol`, intents on the
//! server; neither is here.

#![recursion_limit = "256"]

// `view!` writes paths that begin with `::leptos`. Here they name a crate with elements that are compiled once (`elements`).
extern crate elements as leptos;

pub mod api;
mod browser;
mod columns;
mod commands;
mod components;
mod composer;
mod data;
#[cfg(debug_assertions)]
pub mod design;
mod diagnostics;
mod fields;
mod files;
mod grid;
mod home;
mod layout;
mod literature;
pub mod markdown;
mod pages;
mod palette;
mod panel;
mod preferences;
mod projects;
mod reports;
mod runtime;
mod schedules;
mod settings;
mod sharing;
mod sidebar;
mod state;
mod streams;
#[cfg(test)]
mod tests;
mod transcript;
mod tray;

use leptos::prelude::*;

/// The parts that a crate with pages of its own needs, as `examples/page`.
pub mod extension {
    pub use crate::{
        components::icons,
        pages::add_pages,
        state::{
            draft_on_screen::draft_field,
            page_registry::{AcceptedChanges, DraftOnScreen, PageEntry, PayloadHandler, use_page_registry},
            tray::{TrayPage, use_tray},
        },
    };
}

pub use self::{
    browser::PART_HEADER,
    components::{code_words::with_code, icons::brand as brand_mark},
    layout::prepare,
    panel::still_chart,
    settings::ServerContent,
    state::person::{PagePerson, Person},
};
use self::{
    layout::{Chat, shared_page},
    runtime::erase::Erase,
};
use parlor_protocol::sharing::shared_key;

/// The whole page, which the server renders and the browser hydrates.
///
/// All of the chat is one view, whatever the URL: everything stays in place when the user goes from one
/// conversation to another, or when a new chat becomes a conversation. A URL that names nothing is a route like
/// any other: [`Chat`] and the stores exist as long as the page, and [`state::route`] parses the URL. The page of a share's
/// reader is another view, which no link in the chat leads to.
#[component]
pub fn Root() -> impl IntoView {
    match shared_key(&browser::current_url()) {
        Some(key) => shared_page(key.to_owned()),
        None => view! { <Chat/> }.erase(),
    }
}

/// The browser's entry point: hydrates the page that the server rendered.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    // In a release, panics have no messages.
    #[cfg(debug_assertions)]
    console_error_panic_hook::set_once();
    // Leptos expects one text node for each text that it rendered. Chromium's parser starts a new node after
    // 65,536 characters, so the nodes are joined first.
    if let Some(body) = document().body() {
        body.normalize();
    }
    wasm_bindgen_futures::spawn_local(async {
        prepare().await;
        hydrate_body(Root);
    });
}
