//! Confirmation before a conversation is deleted.

use std::sync::Arc;

use leptos::prelude::*;

use super::{links::link_selector, texts};
use crate::{
    browser,
    components::confirm::{Confirm, ConfirmRequest},
    runtime::bidi::isolated,
    state::{ConversationListStore, use_conversation_list},
};
use parlor_protocol::ConversationId;

/// The dialog that confirms the deletion of a conversation.
#[derive(Clone, Copy)]
pub struct DeletionDialog {
    list: ConversationListStore,
    confirm: Confirm,
}

impl DeletionDialog {
    /// Creates the state of a dialog without a request.
    pub fn new() -> Self {
        Self {
            list: use_conversation_list(),
            confirm: Confirm::new(),
        }
    }

    /// Asks about a conversation.
    pub fn ask(self, id: ConversationId, title: &str) {
        let list = self.list;
        self.confirm.ask(ConfirmRequest {
            title: texts::DELETE_TITLE.into(),
            text: texts::delete_warning(&isolated(title)),
            button_label: texts::DELETE,
            on_confirm: Arc::new(move || {
                let next = focus_target_after_delete(list, id);
                list.delete(id);
                browser::focus_selector(&next);
            }),
        });
    }

    /// Returns the dialog that asks for confirmation.
    pub fn dialog(self) -> AnyView {
        self.confirm.dialog()
    }
}

/// The selector of the next focus in the list after a deletion: the next conversation, the previous one, or *New chat*.
fn focus_target_after_delete(list: ConversationListStore, id: ConversationId) -> String {
    let neighbour = untrack(|| {
        list.with_rows(|rows| {
            let index = rows.iter().position(|row| row.id == id)?;
            let next = rows.get(index + 1);
            next.or_else(|| rows.get(index.checked_sub(1)?)).map(|row| row.id)
        })
    });
    match neighbour {
        Some(id) => link_selector(id),
        None => "#sidebar .nav-row".into(),
    }
}
