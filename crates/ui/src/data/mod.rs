//! The page *Data*: the catalogue of the databases, and an open table. Its code is loaded when it is first shown.
//!
//! - [`state`]: the page's state; the other modules are views of it
//! - [`tray_page`]: the page's context for the chat in the tray
//! - [`catalogue`], [`files`], [`table`]: what the page shows

mod catalogue;
mod files;
mod state;
mod table;
mod texts;
mod tray_page;

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use self::state::DataState;
use crate::{
    browser,
    components::{icons, not_found::not_found_notice},
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_view},
    },
    state::page_registry::PageEntry,
};
use parlor_protocol::{
    ApiError,
    data::{self, DataLocation},
};

/// The page's entry in the registry of pages.
pub const PAGE: PageEntry = PageEntry {
    info: &data::PAGE,
    icon: icons::database,
    parent: None,
    view: || lazy_view(load_view),
    load: || Box::pin(async { load().await.is_ok() }),
    handlers: &[],
};

/// Loads the view's code on first use.
#[wasm_split(data, wasm_split_path = leptos::wasm_split, fallible, preload(load))]
pub fn load_view() -> Result<LazyView, LoadError> {
    Ok(Arc::new(page))
}

fn page() -> AnyView {
    let state = DataState::new();
    state.start();
    let is_elsewhere = Memo::new(move |_| {
        state
            .navigation
            .with_url(|url| DataLocation::parse(url).is_none())
    });
    let open = Memo::new(move |_| state.location.with(|location| location.table.clone()));
    let body = move || {
        if is_elsewhere.get() {
            browser::set_not_found();
            return not_found_notice(texts::NOT_FOUND);
        }
        let content = match open.get() {
            Some(_) => table::table_view(state),
            None => catalogue::catalogue_view(state),
        };
        view! { <div id="data" class="data-page" tabindex="-1">{content}</div> }.erase()
    };
    view! { <div class="data" data-lazy=PAGE.info.name>{body}</div> }.erase()
}

/// A load error, with a button to retry.
fn load_error(what: &'static str, error: &ApiError, again: impl Fn() + 'static) -> AnyView {
    view! {
        <section class="data-empty" role="alert">
            <h2>{what}</h2>
            <p>{error.message.clone()}</p>
            <button type="button" class="button" on:click=move |_| again()>{texts::TRY_AGAIN}</button>
        </section>
    }
    .erase()
}
