//! The page *Literature*: searching PubMed, keeping articles, and streams of research. Its code is loaded when it is first shown.
//!
//! - [`desk`]: what the page holds and does; the rest are views of it
//! - [`beside`]: what the chat beside it is told
//! - [`search`], [`saved`], [`article`]: what one looks at; [`note`]: what one writes about it
//! - [`offers`]: what the assistant proposes for this page, and can have it do
//! - [`entry`]: an article in a list; [`streams`]: queries that are kept

mod article;
mod beside;
mod desk;
mod entry;
mod note;
mod offers;
mod saved;
mod search;
mod streams;

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use self::desk::Desk;
use super::{
    browser,
    erase::Erase,
    icons,
    lazy::{Code, NotLoaded, lazy},
    live::Live,
    not_found::nothing_here,
};
use crate::protocol::literature::{Address, Tab};

/// The page, whatever is open on it.
pub fn literature(live: Live) -> AnyView {
    lazy(move || code(live))
}

#[wasm_split(literature, wasm_split_path = leptos::wasm_split, fallible, preload(load))]
pub fn code(live: Live) -> Result<Code, NotLoaded> {
    Ok(Arc::new(move || page(live)))
}

fn page(live: Live) -> AnyView {
    let desk = Desk::new(live);
    desk.open();
    offers::register(desk);
    let elsewhere = Memo::new(move |_| live.address.with(|address| Address::of(address).is_none()));
    let body = move || {
        if elsewhere.get() {
            browser::not_found();
            nothing_here("There is nothing at this address.")
        } else {
            everything(desk)
        }
    };
    view! { <div class="literature" data-lazy="literature">{body}</div> }.erase()
}

fn everything(desk: Desk) -> AnyView {
    let open = Memo::new(move |_| desk.address.with(|address| address.article.clone()));
    let tab = Memo::new(move |_| desk.address.with(|address| address.tab));
    let body = move || match (open.get(), tab.get()) {
        (Some(pmid), _) => article::article(desk, pmid),
        (None, Tab::Search) => search::search(desk),
        (None, Tab::Saved) => saved::saved(desk),
    };
    view! {
        <div id="literature" class="literature-page" tabindex="-1">
            {tabs(desk, tab)}
            {body}
        </div>
        {undo(desk)}
        {streams::dialog(desk)}
    }
    .erase()
}

/// Search and Saved. They are links: each has an address.
fn tabs(desk: Desk, here: Memo<Tab>) -> AnyView {
    let count = move || desk.with_library(|library| library.articles.len());
    let number = move || match count() {
        0 => None,
        count => Some(view! { <span class="tab-count">{count.to_string()}</span> }),
    };
    let current = move |tab| move || (here.get() == tab).then_some("page");
    let saved = Address {
        tab: Tab::Saved,
        ..Address::default()
    };
    view! {
        <nav class="tabs" aria-label="Literature">
            <a href=move || desk.last_search().path() aria-current=current(Tab::Search)>"Search"</a>
            <a href=saved.path() aria-current=current(Tab::Saved)>"Saved" {number}</a>
        </nav>
    }
    .erase()
}

/// What was removed can be had back.
fn undo(desk: Desk) -> AnyView {
    let shown = move || {
        desk.removed.get().map(|saved| {
            let title = saved.article.title.clone();
            view! {
                <div class="undo">
                    <span dir="auto">"Removed “" {title} "”"</span>
                    <button type="button" class="button" on:click=move |_| desk.put_back()>
                        {icons::retry()} "Undo"
                    </button>
                    <button
                        type="button"
                        class="icon-button"
                        aria-label="Dismiss"
                        on:click=move |_| desk.removed.set(None)
                    >
                        {icons::close()}
                    </button>
                </div>
            }
            .erase()
        })
    };
    view! { <div class="undo-place" role="status">{shown}</div> }.erase()
}
