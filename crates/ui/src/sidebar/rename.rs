//! The title of a conversation in the list as a field. Its code is loaded when the browser has nothing else to do.

use std::sync::Arc;

use leptos::{ev, html, prelude::*, wasm_split::wasm_split};

use super::{links::link_selector, texts};
use crate::{
    browser,
    runtime::{
        effect::effect,
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part},
    },
    state::{ListRow, use_conversation_list},
};
use parlor_protocol::ConversationId;

/// The conversation that is being renamed. It outlives the row's view, which is made anew when the row moves to another day.
#[derive(Clone, Copy)]
pub struct Renaming {
    id: RwSignal<Option<ConversationId>>,
    /// The text of the field, once it was changed.
    typed: StoredValue<Option<String>>,
}

impl Renaming {
    /// Creates the state while nothing is renamed.
    pub fn new() -> Self {
        Self {
            id: RwSignal::new(None),
            typed: StoredValue::new(None),
        }
    }

    /// Shows the field in place of the conversation's link.
    pub fn begin(self, id: ConversationId) {
        self.typed.set_value(None);
        self.id.set(Some(id));
    }

    /// Returns true while this conversation is being renamed. Tracked.
    pub fn is_renaming(self, id: ConversationId) -> bool {
        self.id.get() == Some(id)
    }

    fn end(self) {
        self.typed.set_value(None);
        self.id.set(None);
    }
}

/// The field in place of a conversation's link.
pub fn rename_field(row: ListRow, renaming: Renaming) -> AnyView {
    lazy_part(move || load(row.clone(), renaming))
}

#[wasm_split(palette, wasm_split_path = leptos::wasm_split, fallible)]
fn load(row: ListRow, renaming: Renaming) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || {
        view! { <RenameField row=row.clone() renaming/> }.erase()
    }))
}

/// The selector of the field.
const FIELD: &str = ".item-rename";

/// The title as a field: Enter and leaving the field save it, Escape does not.
#[component]
fn RenameField(row: ListRow, renaming: Renaming) -> impl IntoView {
    let list = use_conversation_list();
    let input = NodeRef::<html::Input>::new();
    let before = row.title.get_untracked();
    let typed = renaming.typed.get_value();
    let is_begun = typed.is_some();
    let title = typed.unwrap_or_else(|| before.clone());
    // The click that opened the field ends after its first effect and may remove the selection. The whole title is
    // therefore selected with the next frame, or before the first key if that comes earlier.
    let is_selected = StoredValue::new(is_begun);
    let select_once = move || {
        if is_selected.try_update_value(|is_selected| std::mem::replace(is_selected, true)) == Some(false)
            && let Some(input) = input.get_untracked()
        {
            input.select();
        }
    };
    effect(move || {
        if let Some(input) = input.get() {
            browser::focus(&input);
            if !is_begun {
                input.select();
                browser::on_next_frame(select_once);
            }
        }
    });
    let save = move |after: &str| list.rename_to(row.id, after, &before);
    let save_on_leaving = save.clone();
    // A row that moves takes the focus from its field for a moment, and a field that is removed is not left either. Another
    // row may begin to be renamed before the next frame.
    let left = move |event: ev::FocusEvent| {
        // Enter or Escape has ended it.
        if renaming.id.get_untracked().is_none() {
            return;
        }
        let after = event_target_value(&event);
        let save = save_on_leaving.clone();
        browser::on_next_frame(move || match renaming.id.get_untracked() {
            Some(id) if id == row.id => {
                let is_here = input
                    .try_get_untracked()
                    .flatten()
                    .is_some_and(|input| input.is_connected());
                if is_here && !browser::has_focus_in(FIELD) {
                    renaming.end();
                    save(&after);
                }
            }
            Some(_) => save(&after),
            None => {}
        });
    };
    let on_key = move |event: ev::KeyboardEvent| {
        select_once();
        match event.key().as_str() {
            "Enter" if !browser::is_composing(&event) => {
                event.prevent_default();
                let after = input.get_untracked().map(|input| input.value());
                renaming.end();
                save(&after.unwrap_or_default());
                focus_link(row.id);
            }
            "Escape" => {
                // Escape must not close the drawer.
                event.prevent_default();
                renaming.end();
                focus_link(row.id);
            }
            _ => {}
        }
    };
    view! {
        <input
            node_ref=input
            class="item-rename"
            aria-label=texts::RENAME_FIELD
            maxlength="200"
            prop:value=title
            on:keydown=on_key
            on:input=move |_| renaming.typed.set_value(input.get_untracked().map(|input| input.value()))
            on:blur=left
        />
    }
}

/// Returns the focus to the link, which is back with the next frame.
fn focus_link(id: ConversationId) {
    browser::on_next_frame(move || browser::focus_selector(&link_selector(id)));
}
