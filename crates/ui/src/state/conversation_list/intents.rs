//! The user's changes of conversations in the list.

use leptos::{prelude::*, task::spawn_local};

use super::{super::texts, ConversationListStore, ListRow};
use crate::{
    api::rpc,
    state::{next_message::drafts, route::Route},
};
use parlor_protocol::{ConversationId, ListChange, ListChanged, ProjectId};

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
        let before = self.places_of(&ids);
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
            self.report(change, changed, &before, failure);
        });
    }

    /// Tells the user of a change, and offers to undo it.
    fn report(
        self,
        change: ListChange,
        changed: Vec<ConversationId>,
        before: &[Place],
        failure: Option<String>,
    ) {
        let done = match change {
            ListChange::Delete => texts::chats_deleted(changed.len()),
            ListChange::Archive => texts::chats_archived(changed.len()),
            ListChange::Move { .. } => texts::chats_moved(changed.len()),
            _ => String::new(),
        };
        if done.is_empty() || changed.is_empty() {
            return failure.into_iter().for_each(|failure| self.toasts.show(failure));
        }
        let text = match failure {
            Some(failure) => [&*done, " ", &failure].concat(),
            None => done,
        };
        let reverse = reverse(change, changed, before);
        // The former place of a conversation outside the loaded part of the list is not known.
        if reverse.is_empty() {
            return self.toasts.show(text);
        }
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

    /// Leaves conversations that were deleted with their project, and offers to restore them.
    pub(in crate::state) fn leave_and_report_deleted(self, ids: Vec<ConversationId>) {
        self.leave_deleted(&ids);
        self.report(ListChange::Delete, ids, &[], None);
    }

    fn places_of(self, ids: &[ConversationId]) -> Vec<Place> {
        self.rows.with_untracked(|rows| {
            let changed = rows.iter().filter(|row| ids.contains(&row.id));
            let place = |row: &ListRow| Place {
                id: row.id,
                is_pinned: row.is_pinned.get_untracked(),
                project_id: row.project_id.get_untracked(),
            };
            changed.map(place).collect()
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

/// The place of a conversation before a change.
#[derive(Clone, Copy, Debug)]
struct Place {
    id: ConversationId,
    is_pinned: bool,
    project_id: Option<ProjectId>,
}

/// The changes that undo one which took conversations out of their places.
fn reverse(
    change: ListChange,
    changed: Vec<ConversationId>,
    before: &[Place],
) -> Vec<(ListChange, Vec<ConversationId>)> {
    if change == ListChange::Delete {
        return vec![(ListChange::Restore, changed)];
    }
    let places = || before.iter().filter(|place| changed.contains(&place.id));
    if let ListChange::Move { .. } = change {
        let mut changes: Vec<(ListChange, Vec<ConversationId>)> = Vec::new();
        for Place { id, project_id, .. } in places() {
            let back = ListChange::Move {
                project_id: *project_id,
            };
            match changes.iter_mut().find(|(change, _)| *change == back) {
                Some((_, ids)) => ids.push(*id),
                None => changes.push((back, vec![*id])),
            }
        }
        return changes;
    }
    // The archive has unpinned them.
    let pinned: Vec<_> = places()
        .filter(|place| place.is_pinned)
        .map(|place| place.id)
        .collect();
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
        let place = |id, is_pinned, project_id| Place {
            id,
            is_pinned,
            project_id,
        };
        let before = [place(a, false, None), place(b, true, None), place(c, true, None)];
        assert_eq!(
            reverse(ListChange::Archive, vec![a, b], &before),
            [(ListChange::Unarchive, vec![a, b]), (ListChange::Pin, vec![b])]
        );
        assert_eq!(
            reverse(ListChange::Archive, vec![a], &[]),
            [(ListChange::Unarchive, vec![a])]
        );
        assert_eq!(
            reverse(ListChange::Delete, vec![a], &[place(a, true, None)]),
            [(ListChange::Restore, vec![a])]
        );
        let project = Some(ProjectId::new());
        let before = [
            place(a, false, project),
            place(b, false, None),
            place(c, false, project),
        ];
        let moved = ListChange::Move { project_id: None };
        assert_eq!(
            reverse(moved, vec![a, b, c], &before),
            [
                (ListChange::Move { project_id: project }, vec![a, c]),
                (ListChange::Move { project_id: None }, vec![b])
            ]
        );
    }
}
