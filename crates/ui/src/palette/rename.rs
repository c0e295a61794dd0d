//! The dialog that renames the shown conversation.

use leptos::{ev, html, prelude::*};

use super::texts;
use crate::{
    components::confirm::{close_dialog, use_modal},
    runtime::{effect::effect, erase::Erase},
    state::use_conversation_list,
};
use parlor_protocol::ConversationId;

/// The conversation that is being renamed, and its title.
#[derive(Clone, Copy)]
pub struct RenameDialog(RwSignal<Option<(ConversationId, String)>>);

impl RenameDialog {
    /// Creates the state of a closed dialog.
    pub fn new() -> Self {
        Self(RwSignal::new(None))
    }

    /// Asks for another title.
    pub fn ask(self, id: ConversationId, title: String) {
        self.0.set(Some((id, title)));
    }

    /// The dialog.
    pub fn dialog(self) -> AnyView {
        let list = use_conversation_list();
        let dialog = use_modal(move || self.0.with(Option::is_some));
        let field = NodeRef::<html::Input>::new();
        effect(move || {
            if let (Some(field), Some((_, title))) = (field.get(), self.0.get()) {
                field.set_value(&title);
                field.select();
            }
        });
        let save = move |event: ev::SubmitEvent| {
            event.prevent_default();
            let typed = field.get_untracked().map(|field| field.value());
            let typed = typed.unwrap_or_default();
            if let Some((id, title)) = self.0.get_untracked() {
                list.rename_to(id, &typed, &title);
            }
            close_dialog(dialog);
        };
        view! {
            <dialog node_ref=dialog class="dialog" aria-labelledby="rename-title" on:close=move |_| self.0.set(None)>
                <form on:submit=save>
                    <h2 id="rename-title">{texts::RENAME_CHAT}</h2>
                    <input
                        node_ref=field
                        class="rename-field"
                        aria-label=texts::RENAME_FIELD
                        autofocus
                        autocomplete="off"
                        dir="auto"
                        maxlength="200"
                    />
                    <div class="dialog-actions">
                        <button type="button" class="button" on:click=move |_| close_dialog(dialog)>{texts::CANCEL}</button>
                        <button type="submit" class="button button-primary">{texts::SAVE}</button>
                    </div>
                </form>
            </dialog>
        }
        .erase()
    }
}
