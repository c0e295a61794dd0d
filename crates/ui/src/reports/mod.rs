//! The page *Reports*: what is new in the person's research streams, with the chat beside it. Its code is loaded when it is first shown.
//!
//! - [`state`]: the reports, which follow the log, and the open one
//! - [`list`]: all of them; [`new`]: the form of a new one
//! - [`report`]: a report with its state and its tabs, [`summary`] and [`articles`]; [`article`]: one of its articles
//! - [`tray_page`]: the page's context for the chat in the tray

mod article;
mod articles;
mod list;
mod new;
mod report;
mod state;
mod summary;
mod texts;
mod tray_page;

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use self::state::ReportsState;
use crate::{
    browser,
    components::{icons, not_found::not_found_notice},
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_view},
    },
    state::{page_registry::PageEntry, tray::use_tray},
};
use parlor_protocol::{
    JobId, ResearchStreamId,
    report::{REPORTS_PAGE, ReportLocation},
};

/// The page's entry in the registry of pages.
pub const PAGE: PageEntry = PageEntry {
    info: &REPORTS_PAGE,
    icon: icons::page,
    parent: None,
    view: || lazy_view(load_view),
    load: || Box::pin(async { load().await.is_ok() }),
    handlers: &[],
};

/// Loads the view's code on first use.
#[wasm_split(reports, wasm_split_path = leptos::wasm_split, fallible, preload(load))]
pub fn load_view() -> Result<LazyView, LoadError> {
    Ok(Arc::new(page))
}

/// The part of the page that is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    List,
    New(Option<ResearchStreamId>),
    Report(JobId),
    Nowhere,
}

fn page() -> AnyView {
    let state = ReportsState::new();
    state.start();
    use_tray().set_tray_page(tray_page::tray_page(state));
    let place = Memo::new(move |_| {
        state.location.with(|location| match location {
            Some(ReportLocation::List) => Place::List,
            Some(ReportLocation::New(stream)) => Place::New(*stream),
            Some(ReportLocation::Report(open)) => Place::Report(open.report_id),
            None => Place::Nowhere,
        })
    });
    let body = move || match place.get() {
        Place::List => list::report_list(state),
        Place::New(stream) => new::new_form(state, stream),
        Place::Report(id) => report::report(state, id),
        Place::Nowhere => {
            browser::set_not_found();
            not_found_notice(texts::NOTHING_HERE)
        }
    };
    view! {
        <div class="literature" data-lazy=REPORTS_PAGE.name>
            <div id="reports" class="literature-page" tabindex="-1">{body}</div>
            {state.confirm.dialog()}
        </div>
    }
    .erase()
}
