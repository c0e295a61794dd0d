//! The user's changes of conversations in the list.

use leptos::{prelude::*, task::spawn_local};

use super::{super::texts, ConversationListStore};
use crate::{
    api::rpc,
    state::{next_message::drafts, route::Route},
};
use parlor_protocol::{ApiError, ConversationId, ListChange};

/// The number of conversations in one request, below the default of the setting `limits.changed_conversations`.
const MAX_PER_REQUEST: usize = 100;

impl ConversationListStore {
    /// Renames a conversation to what was typed in place of its title, unless that is nothing or the same.
    pub fn rename_to(self, id: ConversationId, typed: &str, before: &str) {
        let typed = typed.trim();
        if !typed.is_empty() && typed != before {
            self.rename(id, typed.into());
        }
    }

    /// Renames a conversation.
    fn rename(self, id: ConversationId, title: String) {
        let row = self
            .rows
            .with_untracked(|rows| rows.iter().find(|row| row.id == id).cloned());
        if let Some(row) = row {
            // Shown until the stream confirms it.
            row.title.set(title.clone());
        }
        spawn_local(async move {
            if let Err(error) = self.connection.call(rpc::rename_conversation(id, title)).await {
                self.update_signals();
                self.toasts.show(error.message);
            }
        });
    }

    /// Changes conversations, which is shown at once. Offers to undo what takes them out of the list.
    pub fn change(self, ids: Vec<ConversationId>, change: ListChange) {
        if ids.is_empty() {
            return;
        }
        self.state.with(|state| state.pending.add(&ids, change));
        self.update_signals();
        spawn_local(async move {
            let outcome = self.request(&ids, change).await;
            if let Err(error) = &outcome {
                self.state.with(|state| state.pending.remove(&ids, change));
                self.update_signals();
                self.toasts.show(error.message.clone());
                return;
            }
            if change == ListChange::Delete {
                self.leave_deleted(&ids);
            }
            let count = ids.len();
            let (done, reverse) = match change {
                ListChange::Delete => (texts::chats_deleted(count), ListChange::Restore),
                ListChange::Archive => (texts::chats_archived(count), ListChange::Unarchive),
                // A later result is news again, without an event about the place in the list.
                ListChange::MarkRead => {
                    self.state.with(|state| state.pending.remove(&ids, change));
                    return self.update_signals();
                }
                // The event about the new place ends it: before that the row would go back for a moment.
                _ => return,
            };
            self.toasts.show_with_undo(done, move || {
                let ids = ids.clone();
                spawn_local(async move {
                    if let Err(error) = self.request(&ids, reverse).await {
                        self.toasts.show(error.message);
                    }
                });
            });
        });
    }

    async fn request(self, ids: &[ConversationId], change: ListChange) -> Result<(), ApiError> {
        let sending = self.sending.get_value();
        let _sending = sending.lock().await;
        for some in ids.chunks(MAX_PER_REQUEST) {
            self.connection
                .call(rpc::change_conversations(some.to_vec(), change))
                .await?;
        }
        Ok(())
    }

    /// Erases a conversation for good.
    pub fn erase(self, id: ConversationId) {
        spawn_local(async move {
            match self.connection.call(rpc::delete_conversation(id)).await {
                Ok(()) => self.leave_deleted(&[id]),
                Err(error) => self.toasts.show(error.message),
            }
        });
    }

    /// Shows a new chat in place of a deleted conversation. What was typed there is kept.
    fn leave_deleted(self, ids: &[ConversationId]) {
        if let Some(id) = self.navigation.shown_conversation().filter(|id| ids.contains(id)) {
            drafts::move_to_new_chat(Route::Conversation(id));
            self.navigation.replace(Route::New);
        }
    }

    /// Marks all conversations as read.
    pub fn mark_all_read(self) {
        spawn_local(async move {
            match self.connection.call(rpc::mark_all_read()).await {
                Ok(()) => self.toasts.show(texts::ALL_READ),
                Err(error) => self.toasts.show(error.message),
            }
        });
    }
}
