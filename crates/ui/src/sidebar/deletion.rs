//! Deletion of a conversation: with *Undo*, but of a temporary one after a confirmation and for good.

use std::sync::Arc;

use leptos::prelude::*;

use super::{list_view::use_list_view, texts};
use crate::{
    browser,
    components::confirm::{Confirm, ConfirmRequest},
    runtime::bidi::isolated,
    state::use_conversation_list,
};
use parlor_protocol::{ConversationId, ListChange};

/// The deletion, and the dialog that confirms that of a temporary conversation.
#[derive(Clone, Copy)]
pub struct Deletion {
    confirm: Confirm,
}

impl Deletion {
    /// Creates the state of a dialog without a request.
    pub fn new() -> Self {
        Self {
            confirm: Confirm::new(),
        }
    }

    /// Deletes a conversation, or asks about it.
    pub fn delete(self, id: ConversationId, title: &str) {
        let list = use_conversation_list();
        let is_temporary =
            untrack(|| list.with_rows(|rows| rows.iter().any(|row| row.id == id && row.is_temporary.get())));
        if !is_temporary {
            return use_list_view().change(id, ListChange::Delete);
        }
        self.confirm.ask(ConfirmRequest {
            title: texts::DELETE_TITLE.into(),
            text: texts::delete_warning(&isolated(title)),
            button_label: texts::DELETE,
            on_confirm: Arc::new(move || {
                let next = use_list_view().neighbour(id);
                list.erase(id);
                browser::focus_selector(&next);
            }),
        });
    }

    /// Returns the dialog that asks for confirmation.
    pub fn dialog(self) -> AnyView {
        self.confirm.dialog()
    }
}
