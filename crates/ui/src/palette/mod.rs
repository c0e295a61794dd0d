//! What opens by a key: the palette, which finds conversations and actions by name and
//! texts by their words, and the sheet of shortcuts.
//!
//! This module has what every page needs. The dialogs' code is in a file of its own, which is loaded when the browser has nothing
//! else to do, or when one of them is first opened. [`entries`] says what is found, [`ranking`] in which order.

mod actions;
mod content;
mod entries;
mod ranking;
mod rename;
mod sheet;
mod text_search;
mod texts;

use std::sync::Arc;

use leptos::{ev, html, prelude::*, task::spawn_local, wasm_split::wasm_split};

use crate::{
    browser,
    commands::{CommandDialog, Shortcut, use_commands},
    components::{
        confirm::{close_dialog, use_modal},
        icon_button::IconButton,
        icons,
    },
    runtime::{
        erase::Erase,
        lazy::{LazySlot, LazyView, LoadError},
    },
    state::use_navigation,
};

/// The dialogs, once one of them has been opened.
pub fn dialogs() -> AnyView {
    let opened = use_commands().opened();
    let is_used = Memo::new(move |used: Option<&bool>| {
        used.copied().unwrap_or_default() || opened.with(Option::is_some)
    });
    // The field stays until the code is there: a failed load is retried.
    let slot = LazySlot::new();
    let shown = move || {
        is_used.get().then(|| {
            slot.load(load_view);
            slot.view(early_field)
        })
    };
    shown.erase()
}

/// The field before the palette's code is loaded. The text that is typed into it becomes the query.
fn early_field() -> AnyView {
    let commands = use_commands();
    let opened = commands.opened();
    let asked = move || matches!(opened.get(), Some(CommandDialog::Search | CommandDialog::Find));
    let (dialog, field) = (use_modal(asked), NodeRef::<html::Input>::new());
    let is_find = move || opened.get() == Some(CommandDialog::Find);
    let name = move || if is_find() { texts::FIND } else { texts::DIALOG };
    let label = move || if is_find() { texts::FIND } else { texts::SEARCH };
    let on_key = move |event: ev::KeyboardEvent| {
        if is_opening_key(&event) {
            close_dialog(dialog);
            event.prevent_default();
        }
    };
    let (typing, closing) = (commands.clone(), commands);
    let on_close = move |_| {
        // Browsers report it later: it may be open again.
        if dialog.get_untracked().is_some_and(|dialog| dialog.open()) {
            return;
        }
        closing.take_typed();
        if let Some(field) = field.get_untracked() {
            field.set_value("");
        }
        closing.closed(closing.opening());
    };
    // The focus is back where it was before the palette takes it.
    on_cleanup(move || close_dialog(dialog));
    view! {
        <dialog
            node_ref=dialog
            class="dialog palette"
            aria-label=name
            on:keydown=on_key
            on:click=move |event: ev::MouseEvent| close_on_backdrop(&event, dialog)
            on:close=on_close
        >
            <div class="palette-head">
                {icons::search()}
                <input
                    node_ref=field
                    type="text"
                    autofocus
                    autocomplete="off"
                    autocapitalize="off"
                    spellcheck="false"
                    enterkeyhint="go"
                    placeholder=label
                    aria-label=label
                    on:input=move |event| typing.keep_typed(event_target_value(&event))
                />
                {IconButton::new(texts::CLOSE, icons::close(), move || close_dialog(dialog)).view()}
            </div>
            <p class="palette-note" role="status">{texts::LOADING}</p>
        </dialog>
    }
    .erase()
}

/// Returns true for the keys that open the palette, which close the open one.
fn is_opening_key(event: &ev::KeyboardEvent) -> bool {
    !browser::is_composing(event)
        && (Shortcut::Search.is_pressed(event) || Shortcut::FindInChat.is_pressed(event))
}

/// Loads the code when the browser has nothing else to do: what is typed after the key belongs to the palette.
pub fn load_when_idle() {
    // A failure is retried when the palette is opened.
    browser::on_idle(|| spawn_local(async { drop(load().await) }));
}

/// Loads the views' code on first use.
#[wasm_split(palette, wasm_split_path = leptos::wasm_split, fallible, preload(load))]
pub fn load_view() -> Result<LazyView, LoadError> {
    Ok(Arc::new(view))
}

fn view() -> AnyView {
    let actions = actions::add_actions();
    let opened = use_commands().opened();
    let dialog = move || match opened.get() {
        Some(CommandDialog::Search) => content::palette(None),
        Some(CommandDialog::Find) => content::palette(use_navigation().shown_conversation()),
        Some(CommandDialog::Shortcuts) => sheet::sheet(),
        None => ().into_any(),
    };
    view! {
        {actions}
        {dialog}
    }
    .erase()
}

/// Closes a dialog when the page behind it is pressed.
fn close_on_backdrop(event: &ev::MouseEvent, dialog: NodeRef<html::Dialog>) {
    if event.target() == event.current_target() {
        close_dialog(dialog);
    }
}
