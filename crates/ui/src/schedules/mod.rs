//! The page *Schedules*: prompts that are sent at planned times. Its code is loaded when it is first shown.
//!
//! - [`state`]: the schedules, which follow the log
//! - [`list`]: all of them; [`form`]: the form of one, [`fields`]: its fields
//! - [`begin_new_schedule`]: a new one from a message of a conversation; [`begin_report_schedule`]: one that makes reports

mod fields;
mod form;
mod list;
mod state;
mod texts;

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use self::state::SchedulesState;
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
    literature::ResearchStream,
    schedule::{SCHEDULES_PAGE, ScheduleLocation},
};

/// The storage key of the prompt with which the form of a new schedule begins.
const NEW_PROMPT_KEY: &str = "parlor-schedule:new";

/// The storage key of the stream, its id and its name, of which a new schedule makes reports.
const NEW_STREAM_KEY: &str = "parlor-schedule:stream";

/// The page's entry in the registry of pages.
pub const PAGE: PageEntry = PageEntry {
    info: &SCHEDULES_PAGE,
    icon: icons::clock,
    is_listed: true,
    view: || lazy_view(load_view),
    load: || Box::pin(async { load().await.is_ok() }),
    handlers: &[],
};

/// Loads the view's code on first use.
#[wasm_split(schedules, wasm_split_path = leptos::wasm_split, fallible, preload(load))]
pub fn load_view() -> Result<LazyView, LoadError> {
    Ok(Arc::new(page))
}

/// Puts a prompt into the form of a new schedule. Returns its URL.
pub fn begin_new_schedule(prompt: &str) -> String {
    browser::storage_set(NEW_PROMPT_KEY, Some(prompt));
    ScheduleLocation::New.to_url()
}

/// Puts a stream into the form of a new schedule, which makes reports of it. Returns its URL.
pub fn begin_report_schedule(stream: &ResearchStream) -> String {
    let named = [&stream.id.to_string(), " ", &stream.name].concat();
    browser::storage_set(NEW_STREAM_KEY, Some(&named));
    ScheduleLocation::New.to_url()
}

fn page() -> AnyView {
    let state = SchedulesState::new();
    state.start();
    let location = Memo::new(move |_| state.navigation.with_url(|url| ScheduleLocation::parse(url)));
    let body = move || match location.get() {
        Some(ScheduleLocation::List) => list::schedule_list(state),
        Some(ScheduleLocation::New) => form::new_form(state),
        Some(ScheduleLocation::Edit(id)) => form::edit_form(state, id),
        None => {
            browser::set_not_found();
            not_found_notice(texts::NOTHING_HERE)
        }
    };
    view! {
        <div class="schedules" data-lazy=SCHEDULES_PAGE.name>
            <div id="schedules" class="schedules-page" tabindex="-1">{body}</div>
        </div>
    }
    .erase()
}
