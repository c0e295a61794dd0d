//! The list of conversations as signals, for the sidebar.

use leptos::prelude::*;

use crate::runtime::signal::set_if_changed;
use parlor_protocol::{ConversationId, ListedConversation, ProjectId, Timestamp};

/// A conversation in the list.
#[derive(Clone, Debug)]
pub struct ListRow {
    pub id: ConversationId,
    pub title: ArcRwSignal<String>,
    pub updated_at: ArcRwSignal<Timestamp>,
    pub is_running: ArcRwSignal<bool>,
    /// True if its active run waits for the user.
    pub is_waiting: ArcRwSignal<bool>,
    /// True if a run has ended in it, or begun to wait, since the user last looked.
    pub is_unseen: ArcRwSignal<bool>,
    pub is_pinned: ArcRwSignal<bool>,
    pub is_temporary: ArcRwSignal<bool>,
    pub project_id: ArcRwSignal<Option<ProjectId>>,
}

/// Rows are equal if they are of the same conversation: its changes are in its signals.
impl PartialEq for ListRow {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl ListRow {
    fn new(listed: &ListedConversation) -> Self {
        Self {
            id: listed.id,
            title: ArcRwSignal::new(listed.title.clone()),
            updated_at: ArcRwSignal::new(listed.updated_at),
            is_running: ArcRwSignal::new(listed.active_run.is_some()),
            is_waiting: ArcRwSignal::new(listed.waiting),
            is_unseen: ArcRwSignal::new(listed.unseen),
            is_pinned: ArcRwSignal::new(listed.pinned),
            is_temporary: ArcRwSignal::new(listed.temporary),
            project_id: ArcRwSignal::new(listed.project_id),
        }
    }

    fn sync(&self, listed: &ListedConversation) {
        set_if_changed(&self.title, listed.title.as_str());
        set_if_changed(&self.updated_at, &listed.updated_at);
        set_if_changed(&self.is_running, &listed.active_run.is_some());
        set_if_changed(&self.is_waiting, &listed.waiting);
        set_if_changed(&self.is_unseen, &listed.unseen);
        set_if_changed(&self.is_pinned, &listed.pinned);
        set_if_changed(&self.is_temporary, &listed.temporary);
        set_if_changed(&self.project_id, &listed.project_id);
    }
}

/// Updates the rows from the list.
pub fn sync(rows: RwSignal<Vec<ListRow>>, conversations: &[ListedConversation]) {
    let old = rows.get_untracked();
    let new: Vec<ListRow> = conversations
        .iter()
        .map(|listed| match old.iter().find(|row| row.id == listed.id) {
            Some(row) => {
                row.sync(listed);
                row.clone()
            }
            None => ListRow::new(listed),
        })
        .collect();
    if new != old {
        rows.set(new);
    }
}
