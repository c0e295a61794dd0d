//! The frame of the dialogs. Their code is loaded when one is first opened.

use std::sync::Arc;

use leptos::{ev, html, prelude::*, wasm_split::wasm_split};

use super::{
    Dialog, ProjectDialogs, deletion::deletion, form::form, move_dialog::move_dialog, readers::readers,
};
use crate::{
    browser,
    components::confirm::{close_dialog, use_modal},
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError},
    },
};

/// Loads the code of the dialogs on first use. When one is closed, the element that the selector finds gets the focus.
#[wasm_split(overlays, wasm_split_path = leptos::wasm_split, fallible)]
pub fn load_view(
    dialogs: ProjectDialogs,
    dialog: Dialog,
    focus_after: String,
) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || {
        frame(dialogs, dialog.clone(), focus_after.clone())
    }))
}

/// The dialog on the screen, for its content.
#[derive(Clone, Copy)]
pub struct Frame {
    pub dialogs: ProjectDialogs,
    dialog: NodeRef<html::Dialog>,
}

impl Frame {
    /// Closes the dialog.
    pub fn close(self) {
        close_dialog(self.dialog);
    }
}

fn frame(dialogs: ProjectDialogs, dialog: Dialog, focus_after: String) -> AnyView {
    let node = use_modal(|| true);
    let closed = move |event: ev::Event| {
        if event.target() != event.current_target() {
            return;
        }
        dialogs.open.set(None);
        // Its place may be gone: the row is in a folded project, or, on a phone, in the list, which the dialog has closed.
        for selector in [focus_after.as_str(), ".list-head button", "#menu"] {
            browser::focus_selector(selector);
            if browser::has_focus_in(selector) {
                break;
            }
        }
    };
    let frame = Frame {
        dialogs,
        dialog: node,
    };
    let content = match dialog {
        Dialog::Create(chats) => form(frame, None, chats),
        Dialog::Edit(id) => form(frame, Some(id), None),
        Dialog::Delete(id) => deletion(frame, id),
        Dialog::Share(id) => readers(frame, id),
        Dialog::Move(chats) => move_dialog(frame, chats),
    };
    view! {
        <dialog node_ref=node class="dialog project-dialog" aria-labelledby="project-dialog-title" on:close=closed>
            {content}
        </dialog>
    }
    .erase()
}
