//! Confirmation before a conversation is deleted.

use std::sync::Arc;

use leptos::prelude::*;

use crate::protocol::ConversationId;
use crate::ui::{
    browser, components::confirm::Confirm, components::confirm::ConfirmRequest, sidebar::link_selector,
    state::Live,
};

/// The confirmation for the conversation to delete.
#[derive(Clone, Copy)]
pub struct Deletion {
    live: Live,
    confirm: Confirm,
}

impl Deletion {
    /// No open request.
    pub fn new(live: Live) -> Self {
        Self {
            live,
            confirm: Confirm::new(),
        }
    }

    /// Asks about a conversation.
    pub fn ask(self, id: ConversationId, title: &str) {
        let live = self.live;
        self.confirm.ask(ConfirmRequest {
            title: "Delete this conversation?".into(),
            text: [
                "“",
                title,
                "” and all of its messages will be deleted permanently.",
            ]
            .concat(),
            button_label: "Delete",
            on_confirm: Arc::new(move || {
                let next = focus_target_after_delete(live, id);
                live.delete(id);
                browser::focus_selector(&next);
            }),
        });
    }

    /// The dialog.
    pub fn dialog(self) -> AnyView {
        self.confirm.dialog()
    }
}

/// The selector of the next focus in the list after a deletion: the next conversation, the previous one, or *New chat*.
fn focus_target_after_delete(live: Live, id: ConversationId) -> String {
    let neighbour = live.list.with_untracked(|rows| {
        let index = rows.iter().position(|row| row.id == id)?;
        let next = rows.get(index + 1);
        next.or_else(|| rows.get(index.checked_sub(1)?)).map(|row| row.id)
    });
    match neighbour {
        Some(id) => link_selector(id),
        None => "#sidebar .new-chat".into(),
    }
}
