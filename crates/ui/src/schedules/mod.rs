//! The page *Schedules*: prompts that are sent at planned times. Its code is loaded when it is first shown.
//!
//! - [`state`]: the schedules, which follow the log
//! - [`list`]: all of them; [`form`]: the form of one, [`fields`]: its fields
//! - [`BegunSchedule`]: what another page knows of a new one: the prompt of a message, or the stream of which it makes reports

mod fields;
mod form;
mod list;
mod state;
mod texts;

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};
use serde::{Deserialize, Serialize};

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
    Dollars, ResearchStreamId, json,
    schedule::{SCHEDULES_PAGE, ScheduleLocation},
};

/// The storage key of a schedule that another page has begun.
const BEGUN_KEY: &str = "parlor-schedule:new";

/// A new schedule, as far as another page knows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BegunSchedule {
    pub name: String,
    pub prompt: String,
    /// The stream of which it makes reports.
    pub stream_id: Option<ResearchStreamId>,
    pub model: Option<String>,
    pub run_limit: Option<Dollars>,
}

impl BegunSchedule {
    /// Keeps it for the form of a new schedule. Returns the form's URL.
    pub fn keep(&self) -> String {
        let stored = serde_json::to_string(self).ok();
        browser::storage_set(BEGUN_KEY, stored.as_deref());
        ScheduleLocation::New.to_url()
    }

    /// Takes the one that is kept.
    fn take() -> Option<Self> {
        let stored = browser::storage_get(BEGUN_KEY)?;
        browser::storage_set(BEGUN_KEY, None);
        json::parse(stored.as_bytes()).ok()
    }
}

/// The page's entry in the registry of pages.
pub const PAGE: PageEntry = PageEntry {
    info: &SCHEDULES_PAGE,
    icon: icons::clock,
    parent: None,
    view: || lazy_view(load_view),
    load: || Box::pin(async { load().await.is_ok() }),
    handlers: &[],
};

/// Loads the view's code on first use.
#[wasm_split(schedules, wasm_split_path = leptos::wasm_split, fallible, preload(load))]
pub fn load_view() -> Result<LazyView, LoadError> {
    Ok(Arc::new(page))
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
