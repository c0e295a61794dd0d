//! The pages *Streams*, which lists the person's research streams, and *Edit stream*, where one is edited with the chat beside it.
//! Their code is loaded when one of them is first shown.
//!
//! - [`library`]: streams and saved articles, which follow the log, for the page *Literature*, too
//! - [`state`]: the state of both pages; [`list`]: the page *Streams*
//! - [`form`]: the form of a stream, unsaved changes included; [`edit`]: its view, [`items`]: its lists
//! - [`texts`]: the texts of both pages

mod edit;
mod form;
mod items;
mod library;
mod list;
mod state;
mod texts;

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use self::state::StreamsState;
pub use self::{form::begin_new_stream, library::LibraryStore};
use crate::{
    browser,
    components::{icons, not_found::not_found_notice},
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_view},
    },
    state::{
        page_registry::{OtherPage, PageEntry, PayloadHandler},
        remote::Remote,
        tray::{TrayPage, use_tray},
    },
};
use parlor_protocol::{
    PageContext,
    literature::{
        AiColumnSuggestion, EDIT_STREAM_PAGE, EditStreamLocation, PresentationCategories, STREAMS_PAGE,
        SchemaProposal, StreamSuggestions,
    },
};

/// The width of the panel with a proposal.
const PROPOSAL_WIDTH: u32 = 480;

/// The page *Streams*.
pub const LIST_PAGE: PageEntry = PageEntry {
    info: &STREAMS_PAGE,
    icon: icons::bookmark,
    parent: None,
    view: || lazy_view(load_list),
    load: || Box::pin(async { preload_list().await.is_ok() }),
    handlers: &[
        PayloadHandler {
            other_page: Some(OtherPage {
                button_label: texts::OPEN_AS_NEW,
                description: texts::ABOUT_OPENING,
                url: |accepted| Some(begin_new_stream(&accepted.changes)),
            }),
            ..PayloadHandler::proposal::<StreamSuggestions>(PROPOSAL_WIDTH)
        },
        PayloadHandler::proposal::<SchemaProposal>(PROPOSAL_WIDTH),
        PayloadHandler::proposal::<AiColumnSuggestion>(PROPOSAL_WIDTH),
        PayloadHandler::proposal::<PresentationCategories>(PROPOSAL_WIDTH),
    ],
};

/// The page *Edit stream*.
pub const EDIT_PAGE: PageEntry = PageEntry {
    info: &EDIT_STREAM_PAGE,
    icon: icons::pencil,
    parent: Some(&STREAMS_PAGE),
    view: || lazy_view(load_edit),
    load: || Box::pin(async { preload_edit().await.is_ok() }),
    handlers: &[],
};

/// Loads the list's code on first use.
#[wasm_split(streams, wasm_split_path = leptos::wasm_split, fallible, preload(preload_list))]
pub fn load_list() -> Result<LazyView, LoadError> {
    Ok(Arc::new(list_page))
}

/// Loads the form's code on first use.
#[wasm_split(streams, wasm_split_path = leptos::wasm_split, fallible, preload(preload_edit))]
pub fn load_edit() -> Result<LazyView, LoadError> {
    Ok(Arc::new(edit_page))
}

fn list_page() -> AnyView {
    let state = StreamsState::new();
    state.start();
    use_tray().set_tray_page(TrayPage {
        context: Callback::new(|()| PageContext::for_page(STREAMS_PAGE.name)),
        about: texts::ABOUT_LIST,
        suggested_questions: Callback::new(|()| texts::LIST_QUESTIONS.map(str::to_owned).to_vec()),
        placeholder: Callback::new(|()| None),
    });
    let is_here = move || state.navigation.with_url(|url| is_list_url(url));
    let body = move || {
        if !is_here() {
            browser::set_not_found();
            return not_found_notice(texts::NOTHING_HERE);
        }
        list::stream_list(state)
    };
    view! { <div class="literature" data-lazy=STREAMS_PAGE.name>{body}</div> }.erase()
}

fn is_list_url(url: &str) -> bool {
    let path = url.split('?').next().unwrap_or_default();
    path.trim_end_matches('/') == STREAMS_PAGE.path
}

/// What the page *Edit stream* shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EditView {
    Form(EditStreamLocation),
    Loading,
    Failed,
    NotFound,
}

fn edit_page() -> AnyView {
    let state = StreamsState::new();
    state.start();
    let shown = Memo::new(move |_| {
        let location = state.navigation.with_url(|url| EditStreamLocation::parse(url));
        let Some(location) = location else {
            return EditView::NotFound;
        };
        let is_there = location.stream_id.is_none() || state.saved_form(location.stream_id).is_some();
        state.library.signal.with(|library| match library.remote() {
            _ if is_there => EditView::Form(location),
            Remote::Ready(_) => EditView::NotFound,
            Remote::Failed(_) => EditView::Failed,
            _ => EditView::Loading,
        })
    });
    let body = move || match shown.get() {
        EditView::Form(location) => edit::stream_form(state, location.stream_id),
        EditView::NotFound => {
            browser::set_not_found();
            not_found_notice(texts::NOT_FOUND)
        }
        EditView::Failed => list::failure(state, String::new()),
        EditView::Loading => view! { <p class="notice-waiting" role="status">{texts::LOADING}</p> }.erase(),
    };
    view! { <div class="literature" data-lazy=EDIT_STREAM_PAGE.name>{body}</div> }.erase()
}
