//! The tab *Files* of the settings: all files of the person, the room that they take, and their deletion.
//!
//! - [`state`]: the loaded part of the list, and the chosen files
//! - [`row`]: a file with the places where it is used

mod row;
mod state;
mod texts;

use std::sync::Arc;

use leptos::prelude::*;

use self::state::FilesState;
use super::heading;
use crate::{
    browser,
    components::{
        confirm::{Confirm, ConfirmRequest},
        icons,
    },
    runtime::{each::Each, erase::Erase, when::When},
};
use parlor_protocol::{FileSort, ListedFile};

pub fn section(confirm: Confirm) -> AnyView {
    let state = FilesState::new();
    state.start();
    let is_loaded = Memo::new(move |_| state.total.with(Option::is_some));
    let is_empty = Memo::new(move |_| state.total.get() == Some(0));
    // Of the list on the screen: when the field is emptied after a search without a hit, it stays until all files are there.
    let is_searching =
        Memo::new(move |_| state.is_of_search.get() || state.query.with(|query| !query.trim().is_empty()));
    let is_waiting = move || !is_loaded.get() && state.error.with(Option::is_none);
    view! {
        <section class="settings-section" aria-labelledby="settings-files">
            {heading("settings-files", texts::FILES, texts::ABOUT)}
            <When when=is_waiting>
                <div class="notice notice-waiting needs-script" role="status">{texts::LOADING}</div>
            </When>
            <When when=move || is_loaded.get()>{quota(state)}</When>
            <When when=move || { is_loaded.get() && (!is_empty.get() || is_searching.get()) }>{controls(state)}</When>
            <When when=move || { is_empty.get() && !is_searching.get() }>
                <p class="settings-empty">{texts::NO_FILES}</p>
            </When>
            <When when=move || { is_empty.get() && is_searching.get() }>
                <p class="settings-empty" role="status">{texts::NO_MATCHES}</p>
            </When>
            <When when=move || state.chosen.with(|chosen| !chosen.is_empty())>{chosen_bar(state, confirm)}</When>
            <ul class="settings-list file-list" aria-busy=move || state.is_loading.get().to_string()>
                <Each of=move || state.files.get() key=|listed| listed.file.id let:listed>
                    {row::row(state, listed, move |listed| ask(state, confirm, vec![listed]))}
                </Each>
            </ul>
            {move || state.error.get().map(|error| failure(state, error))}
            <When when=move || state.next.with(Option::is_some)>
                <button
                    type="button"
                    class="button button-quiet needs-script"
                    aria-busy=move || state.is_loading.get().to_string()
                    on:click=move |_| state.load_more()
                >
                    {move || if state.is_loading.get() { texts::LOADING } else { texts::SHOW_MORE }}
                </button>
            </When>
        </section>
    }
    .erase()
}

/// The room that the files take.
fn quota(state: FilesState) -> AnyView {
    let (used, limit) = (state.used_bytes, state.limit_bytes);
    let label = move || texts::used(&texts::size(used.get()), &texts::size(limit.get()));
    view! {
        <div class="file-quota">
            <progress max=move || limit.get().to_string() value=move || used.get().to_string() aria-label=texts::ROOM></progress>
            <p class="settings-note">{label}</p>
        </div>
    }
    .erase()
}

fn controls(state: FilesState) -> AnyView {
    let options: Vec<_> = FileSort::ALL
        .into_iter()
        .map(|sort| {
            let is_selected = move || state.sort.get() == sort;
            view! { <option value=texts::sort_name(sort) prop:selected=is_selected>{texts::sort_name(sort)}</option> }
                .erase()
        })
        .collect();
    let choose_sort = move |event| {
        let chosen = event_target_value(&event);
        let mut all = FileSort::ALL.into_iter();
        if let Some(sort) = all.find(|sort| texts::sort_name(*sort) == chosen) {
            state.sort.set(sort);
            state.load();
        }
    };
    let search = move |event| {
        state.query.set(event_target_value(&event));
        state.load();
    };
    view! {
        <div class="file-controls needs-script">
            <input
                type="search"
                class="settings-input"
                aria-label=texts::SEARCH
                placeholder=texts::SEARCH
                autocomplete="off"
                prop:value=move || state.query.get()
                on:input=search
            />
            <select class="settings-input" aria-label=texts::ORDER on:change=choose_sort>{options}</select>
        </div>
    }
    .erase()
}

/// The actions for the chosen files.
fn chosen_bar(state: FilesState, confirm: Confirm) -> AnyView {
    let about = move || {
        let chosen = state.chosen_files();
        let bytes = chosen.iter().map(|listed| listed.file.bytes as u64).sum();
        texts::chosen(chosen.len(), &texts::size(bytes))
    };
    view! {
        <div class="settings-bar file-chosen" role="group" aria-label=texts::CHOSEN>
            <p class="settings-note" role="status">{about}</p>
            <button type="button" class="button button-quiet" on:click=move |_| state.chosen.set(Vec::new())>
                {texts::CHOOSE_NONE}
            </button>
            <button
                type="button"
                class="button"
                on:click=move |_| ask(state, confirm, untrack(|| state.chosen_files()))
            >
                {icons::trash()} {texts::DELETE}
            </button>
        </div>
    }
    .erase()
}

/// Asks whether files are to be deleted, and deletes them.
fn ask(state: FilesState, confirm: Confirm, files: Vec<ListedFile>) {
    let uses = files
        .iter()
        .map(|listed| listed.uses.len() + listed.more_uses)
        .sum();
    let title = match &files[..] {
        [only] => texts::delete_title(&only.file.name),
        _ => texts::delete_several(files.len()),
    };
    confirm.ask(ConfirmRequest {
        title,
        text: texts::delete_about(uses),
        button_label: texts::DELETE,
        on_confirm: Arc::new(move || {
            browser::focus_selector("#settings-files");
            state.delete(files.clone());
        }),
    });
}

fn failure(state: FilesState, error: String) -> AnyView {
    view! {
        <div class="notice" role="alert">
            <p>{error}</p>
            <button type="button" class="button needs-script" on:click=move |_| state.load()>{texts::TRY_AGAIN}</button>
        </div>
    }
    .erase()
}
