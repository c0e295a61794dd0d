//! Tests of the server-rendered page and of the data that the browser hydrates it with.
//!
//! - [`pages`]: pages with a given text in every place that can have one
//! - [`wire`]: the data of a page as Leptos writes it into the page and as a browser reads it there
//! - [`agreement`]: server and browser have the same state, and render the same page from it
//! - [`keys`]: what is said about a refused key
//! - [`pieces`]: very long texts
//! - [`places`]: the row of the list that is marked
//! - [`shortcuts`]: the keyboard shortcuts that README.md lists
//! - [`xss`]: no text becomes markup

mod agreement;
mod keys;
mod pages;
mod pieces;
mod places;
mod shortcuts;
mod wire;
pub(crate) mod xss;

use std::sync::Arc;

use hydration_context::SsrSharedContext;
use leptos::prelude::*;

use crate::{
    commands::Commands,
    layout::chat,
    state::{Stores, snapshot::PageSnapshot},
};

/// Runs `make` in the environment in which the server renders a page.
fn run_as_server(make: impl FnOnce() -> String) -> String {
    let owner = Owner::new_root(Some(Arc::new(SsrSharedContext::new())));
    let made = owner.with(make);
    owner.cleanup();
    made
}

/// Runs `make` within a page, whose stores its views use.
pub(crate) fn run_in_page(make: impl FnOnce() -> AnyView) -> String {
    run_as_server(|| {
        let navigation = chat::create_navigation("/".to_owned());
        Stores::new(pages::page("text"), navigation).provide();
        Commands::provide(false);
        make().to_html()
    })
}

/// The server-rendered HTML of a page's body.
fn render_html(page: &PageSnapshot, url: &str) -> String {
    run_as_server(|| {
        let navigation = chat::create_navigation(url.to_owned());
        chat::render_snapshot(page.clone(), navigation).to_html()
    })
}
