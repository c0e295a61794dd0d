//! The user's changes of conversations in the list.

use leptos::{prelude::*, task::spawn_local};

use super::{super::texts, ConversationListStore};
use crate::{
    api::rpc,
    state::{next_message::drafts, route::Route},
};
use parlor_protocol::{ConversationId, ListChange, ListChanged};

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
        let pinned = self.pinned_among(&ids);
        self.state.with(|state| state.pending.add(&ids, change));
        self.update_signals();
        spawn_local(async move {
            let ListChanged {
                ids: changed,
                failure,
            } = self.request(&ids, change).await;
            // Of the changed ones the event about the new place is the end: before that the row would go back for a moment.
            // A later result is news again, without such an event.
            let has_event = |id: &ConversationId| change != ListChange::MarkRead && changed.contains(id);
            let settled: Vec<_> = ids.into_iter().filter(|id| !has_event(id)).collect();
            self.state.with(|state| state.pending.remove(&settled, change));
            self.update_signals();
            if change == ListChange::Delete {
                self.leave_deleted(&changed);
            }
            self.report(change, changed, &pinned, failure);
        });
    }

    /// Tells the user of a change, and offers to undo it.
    fn report(
        self,
        change: ListChange,
        changed: Vec<ConversationId>,
        pinned: &[ConversationId],
        failure: Option<String>,
    ) {
        let done = match change {
            ListChange::Delete => texts::chats_deleted(changed.len()),
            ListChange::Archive => texts::chats_archived(changed.len()),
            _ => String::new(),
        };
        if done.is_empty() || changed.is_empty() {
            return failure.into_iter().for_each(|failure| self.toasts.show(failure));
        }
        let text = match failure {
            Some(failure) => [&*done, " ", &failure].concat(),
            None => done,
        };
        let reverse = reverse(change, changed, pinned);
        self.toasts.show_with_undo(text, move || {
            let reverse = reverse.clone();
            spawn_local(async move {
                for (change, ids) in reverse {
                    let failure = self.request(&ids, change).await.failure;
                    failure.into_iter().for_each(|failure| self.toasts.show(failure));
                }
            });
        });
    }

    fn pinned_among(self, ids: &[ConversationId]) -> Vec<ConversationId> {
        self.rows.with_untracked(|rows| {
            let pinned = rows.iter().filter(|row| row.is_pinned.get_untracked());
            pinned.map(|row| row.id).filter(|id| ids.contains(id)).collect()
        })
    }

    async fn request(self, ids: &[ConversationId], change: ListChange) -> ListChanged {
        let sending = self.sending.get_value();
        let _sending = sending.lock().await;
        let mut all = ListChanged::default();
        for some in ids.chunks(MAX_PER_REQUEST) {
            match self
                .connection
                .call(rpc::change_conversations(some.to_vec(), change))
                .await
            {
                Ok(changed) => {
                    all.ids.extend(changed.ids);
                    all.failure = all.failure.or(changed.failure);
                }
                Err(error) => {
                    all.failure = Some(error.message);
                    break;
                }
            }
        }
        all
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

/// The changes that undo one which took conversations out of the list. `pinned` were pinned before it.
fn reverse(
    change: ListChange,
    changed: Vec<ConversationId>,
    pinned: &[ConversationId],
) -> Vec<(ListChange, Vec<ConversationId>)> {
    if change == ListChange::Delete {
        return vec![(ListChange::Restore, changed)];
    }
    // The archive has unpinned them.
    let pinned: Vec<_> = changed.iter().copied().filter(|id| pinned.contains(id)).collect();
    let mut changes = vec![(ListChange::Unarchive, changed)];
    if !pinned.is_empty() {
        changes.push((ListChange::Pin, pinned));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undo_of_the_archive_pins_again() {
        let [a, b, c] = [
            ConversationId::new(),
            ConversationId::new(),
            ConversationId::new(),
        ];
        assert_eq!(
            reverse(ListChange::Archive, vec![a, b], &[b, c]),
            [(ListChange::Unarchive, vec![a, b]), (ListChange::Pin, vec![b])]
        );
        assert_eq!(
            reverse(ListChange::Archive, vec![a], &[]),
            [(ListChange::Unarchive, vec![a])]
        );
        assert_eq!(
            reverse(ListChange::Delete, vec![a], &[a]),
            [(ListChange::Restore, vec![a])]
        );
    }
}
