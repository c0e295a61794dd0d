//! The page *Literature*: searching PubMed, saving articles, and research streams. Its code is loaded when it is first
//! shown.
//!
//! - [`state`]: the page's state and actions; the other modules are views of it
//! - [`tray_page`]: the page's context for the chat in the tray
//! - [`search`], [`saved`], [`article`]: what the page shows; [`table`]: the saved articles with columns; [`note`]: the user's note about an article
//! - [`proposals`]: the assistant's proposals for this page
//! - [`entry`]: an article in a list; [`streams`]: saved queries

mod article;
mod entry;
mod note;
mod proposals;
mod saved;
mod search;
mod state;
mod streams;
mod table;
mod texts;
mod tray_page;

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use self::state::LiteratureState;
use crate::{
    browser,
    components::{icon_button::IconButton, icons, not_found::not_found_notice},
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_view},
    },
    state::page_registry::PageEntry,
};
use parlor_protocol::literature::{self, LiteratureLocation, LiteratureTab};
use parlor_protocol::number_format::group_digits;

/// The page's entry in the registry of pages.
pub const PAGE: PageEntry = PageEntry {
    info: &literature::PAGE,
    icon: icons::book,
    parent: None,
    view: || lazy_view(load_view),
    load: || Box::pin(async { load().await.is_ok() }),
    handlers: &[proposals::QUERY_HANDLER],
};

/// Loads the view's code on first use.
#[wasm_split(literature, wasm_split_path = leptos::wasm_split, fallible, preload(load))]
pub fn load_view() -> Result<LazyView, LoadError> {
    Ok(Arc::new(page))
}

fn page() -> AnyView {
    let state = LiteratureState::new();
    state.start();
    proposals::register(state);
    let elsewhere = Memo::new(move |_| {
        state
            .navigation
            .with_url(|url| LiteratureLocation::parse(url).is_none())
    });
    let body = move || {
        if elsewhere.get() {
            browser::set_not_found();
            not_found_notice(texts::NOTHING_HERE)
        } else {
            page_content(state)
        }
    };
    view! { <div class="literature" data-lazy=PAGE.info.name>{body}</div> }.erase()
}

fn page_content(state: LiteratureState) -> AnyView {
    let open = Memo::new(move |_| state.location.with(|location| location.article.clone()));
    let tab = Memo::new(move |_| state.location.with(|location| location.tab));
    let body = move || match (open.get(), tab.get()) {
        (Some(_), _) => article::article_view(state),
        (None, LiteratureTab::Search) => search::search_tab(state),
        (None, LiteratureTab::Saved) => saved::saved_tab(state),
    };
    view! {
        <div id="literature" class="literature-page" tabindex="-1">
            {tab_links(state, tab)}
            {body}
        </div>
        {undo_bar(state)}
    }
    .erase()
}

/// The tabs Search and Saved. They are links: each has a URL.
fn tab_links(state: LiteratureState, here: Memo<LiteratureTab>) -> AnyView {
    let count = move || state.with_library(|library| library.articles.len());
    let number = move || match count() {
        0 => None,
        count => Some(view! { <span class="tab-count">{group_digits(count as u64)}</span> }),
    };
    let current = move |tab| move || (here.get() == tab).then_some("page");
    let saved = LiteratureLocation {
        tab: LiteratureTab::Saved,
        ..LiteratureLocation::default()
    };
    view! {
        <nav class="tabs" aria-label=texts::LITERATURE>
            <a href=move || state.last_search().to_url() aria-current=current(LiteratureTab::Search)>{texts::SEARCH}</a>
            <a href=saved.to_url() aria-current=current(LiteratureTab::Saved)>{texts::SAVED} {number}</a>
        </nav>
    }
    .erase()
}

/// The button that restores the article removed last.
fn undo_bar(state: LiteratureState) -> AnyView {
    let shown = move || {
        state.last_removed.get().map(|saved| {
            let title = saved.article.title.clone();
            let (before, after) = texts::REMOVED;
            view! {
                <div class="undo">
                    <span dir="auto">{before} {title} {after}</span>
                    <button type="button" class="button" on:click=move |_| state.restore_removed()>
                        {icons::retry()} {texts::UNDO}
                    </button>
                    {IconButton::new(texts::DISMISS, icons::close(), move || state.last_removed.set(None)).view()}
                </div>
            }
            .erase()
        })
    };
    view! { <div class="undo-place" role="status">{shown}</div> }.erase()
}
