//! The views of the list: conversations or archive, to be opened or to be selected.

use leptos::prelude::*;

use super::{
    groups::project_of,
    links::{link_selector, row_selector},
    list_keys::RowKey,
};
use crate::{
    browser,
    projects::{MovedChats, ProjectDialogs, use_project_dialogs},
    state::{ConversationListStore, ListRow, Projects, use_archive, use_conversation_list, use_projects},
};
use parlor_protocol::{ConversationId, ListChange, ProjectId};

/// A row of the list with what it shows.
#[derive(Clone, Debug)]
enum ShownRow {
    Chat(ListRow),
    Project(ProjectId),
    SharedProject(ProjectId),
}

/// The state of the list's view. One per page.
#[derive(Clone, Copy)]
pub struct ListView {
    conversations: ConversationListStore,
    archive: ConversationListStore,
    projects: Projects,
    dialogs: ProjectDialogs,
    is_archive: RwSignal<bool>,
    /// The selected conversations, while some can be selected.
    selected: RwSignal<Option<Vec<ConversationId>>>,
    /// The conversation that was selected last, where a range begins.
    anchor: StoredValue<Option<ConversationId>>,
}

impl ListView {
    /// Shows the conversations of the page's stores.
    pub fn new() -> Self {
        Self {
            conversations: use_conversation_list(),
            archive: use_archive(),
            projects: use_projects(),
            dialogs: use_project_dialogs(),
            is_archive: RwSignal::new(false),
            selected: RwSignal::new(None),
            anchor: StoredValue::new(None),
        }
    }

    /// The list that is shown. Tracked.
    pub fn list(self) -> ConversationListStore {
        match self.is_archive.get() {
            true => self.archive,
            false => self.conversations,
        }
    }

    /// Returns true while the archive is shown. Tracked.
    pub fn is_archive(self) -> bool {
        self.is_archive.get()
    }

    /// Shows the archive, or the conversations.
    pub fn show_archive(self, is_archive: bool) {
        self.end_selecting();
        if is_archive {
            self.archive.open();
        }
        self.is_archive.set(is_archive);
        browser::on_next_frame(|| browser::focus_selector(".list-head button"));
    }

    /// Returns true while conversations can be selected. Tracked.
    pub fn is_selecting(self) -> bool {
        self.selected.with(Option::is_some)
    }

    /// Returns true if a conversation is selected. Tracked.
    pub fn is_selected(self, id: ConversationId) -> bool {
        self.selected
            .with(|selected| selected.as_ref().is_some_and(|selected| selected.contains(&id)))
    }

    /// The number of selected conversations. Tracked.
    pub fn count(self) -> usize {
        self.listed_selection().len()
    }

    /// The selected conversations that are still in the list: others are gone meanwhile, perhaps in another tab. Tracked.
    pub fn listed_selection(self) -> Vec<ConversationId> {
        self.selected.with(|selected| match selected {
            Some(selected) => self.list().with_rows(|rows| listed(rows, selected)),
            None => Vec::new(),
        })
    }

    /// Lets conversations be selected, this one first.
    pub fn begin_selecting(self, first: Option<ConversationId>) {
        self.anchor.set_value(first);
        self.selected.set(Some(first.into_iter().collect()));
        browser::on_next_frame(move || match first {
            Some(id) => browser::focus_selector(&link_selector(id)),
            None => browser::focus_selector(".list .item-link"),
        });
    }

    /// Opens conversations again.
    pub fn end_selecting(self) {
        if untrack(|| self.is_selecting()) {
            self.selected.set(None);
            browser::on_next_frame(|| browser::focus_selector(".list-head button"));
        }
    }

    /// Selects a conversation, or not any more. With `is_range`, all from the last one to it.
    pub fn toggle(self, id: ConversationId, is_range: bool) {
        let range = match self.anchor.get_value() {
            Some(anchor) if is_range => untrack(|| range(&self.chats(), anchor, id)),
            _ => Vec::new(),
        };
        self.anchor.set_value(Some(id));
        self.selected.update(|selected| {
            let selected = selected.get_or_insert_default();
            if range.is_empty() {
                match selected.iter().position(|other| *other == id) {
                    Some(index) => drop(selected.remove(index)),
                    None => selected.push(id),
                }
                return;
            }
            for id in range {
                if !selected.contains(&id) {
                    selected.push(id);
                }
            }
        });
    }

    /// Selects all loaded conversations, or none if all are selected.
    pub fn toggle_all(self) {
        let all: Vec<_> = untrack(|| self.chats()).into_iter().map(|row| row.id).collect();
        let is_all = untrack(|| self.count()) == all.len();
        self.selected.set(Some(if is_all { Vec::new() } else { all }));
    }

    /// Changes the selected conversations.
    pub fn change_selected(self, change: ListChange) {
        let list = untrack(|| self.list());
        let selected = untrack(|| self.listed_selection());
        self.end_selecting();
        list.change(selected, change);
    }

    /// Changes a conversation. If it leaves the list, its neighbour gets the focus.
    pub fn change(self, id: ConversationId, change: ListChange) {
        let list = untrack(|| self.list());
        let leaves = match change {
            ListChange::Delete | ListChange::Archive | ListChange::Unarchive => true,
            ListChange::Pin => untrack(|| self.is_archive()),
            ListChange::Move { project_id } => !untrack(|| project_id.is_none_or(|id| self.is_unfolded(id))),
            _ => false,
        };
        // A row that moves to another group is made anew.
        let next = match leaves {
            true => self.neighbour(id),
            false => link_selector(id),
        };
        list.change(vec![id], change);
        browser::on_next_frame(move || browser::focus_selector(&next));
    }
}

impl ListView {
    /// Returns true if a project shows its conversations: it is unfolded, or some can be selected. Tracked.
    pub fn is_unfolded(self, id: ProjectId) -> bool {
        self.is_selecting() || self.projects.is_unfolded(id)
    }

    /// Returns the projects that the list shows, oldest first. Tracked.
    pub fn project_ids(self) -> Vec<ProjectId> {
        match self.is_archive() {
            true => Vec::new(),
            false => self.projects.ids(),
        }
    }

    /// Returns the projects of others that the list shows. Tracked.
    pub fn shared_project_ids(self) -> Vec<ProjectId> {
        match self.is_archive() {
            true => Vec::new(),
            false => self
                .projects
                .with(|list| list.shared.iter().map(|shared| shared.id).collect()),
        }
    }

    /// Returns the rows in the order in which they are shown: the pinned ones, the projects with theirs, those of others, the others. Those of
    /// folded projects are left out. Tracked.
    fn shown_rows(self) -> Vec<ShownRow> {
        let projects = self.project_ids();
        self.list().with_rows(|rows| {
            let place = |row: &&ListRow| (row.is_pinned.get(), project_of(row, &projects));
            let placed = |wanted: (bool, Option<ProjectId>)| {
                let rows = rows.iter().filter(move |row| place(row) == wanted);
                rows.cloned().map(ShownRow::Chat)
            };
            let pinned = rows.iter().filter(|row| row.is_pinned.get());
            let mut shown: Vec<_> = pinned.cloned().map(ShownRow::Chat).collect();
            for id in &projects {
                shown.push(ShownRow::Project(*id));
                if self.is_unfolded(*id) {
                    shown.extend(placed((false, Some(*id))));
                }
            }
            let shared = self.shared_project_ids().into_iter();
            shown.extend(shared.map(ShownRow::SharedProject));
            shown.extend(placed((false, None)));
            shown
        })
    }

    /// Returns the keys of the rows in the order in which they are shown. Tracked.
    pub fn row_keys(self) -> Vec<RowKey> {
        let rows = self.shown_rows().into_iter();
        rows.map(|row| match row {
            ShownRow::Chat(row) => RowKey::Chat(row.id),
            ShownRow::Project(id) => RowKey::Project(id),
            ShownRow::SharedProject(id) => RowKey::SharedProject(id),
        })
        .collect()
    }

    /// Returns the conversations in the order in which they are shown. Tracked.
    fn chats(self) -> Vec<ListRow> {
        let rows = self.shown_rows().into_iter();
        rows.filter_map(|row| match row {
            ShownRow::Chat(row) => Some(row),
            ShownRow::Project(_) | ShownRow::SharedProject(_) => None,
        })
        .collect()
    }

    /// The selector of the next focus when a conversation leaves the list: the next row, the previous one, or *New chat*.
    pub fn neighbour(self, id: ConversationId) -> String {
        let rows = untrack(|| self.row_keys());
        let index = rows.iter().position(|key| *key == RowKey::Chat(id));
        let neighbour = index.and_then(|index| {
            let previous = || rows.get(index.checked_sub(1)?);
            rows.get(index + 1).or_else(previous)
        });
        match neighbour {
            Some(key) => row_selector(*key),
            None => "#sidebar .nav-row".into(),
        }
    }

    /// Asks for the project of a conversation.
    pub fn ask_for_project(self, id: ConversationId) {
        let list = untrack(|| self.list());
        let chats = MovedChats { list, ids: vec![id] };
        self.dialogs.move_chats(chats, link_selector(id));
    }

    /// Asks for the project of the selected conversations, whose selection ends.
    pub fn ask_for_project_of_selected(self) {
        let list = untrack(|| self.list());
        let ids = untrack(|| self.listed_selection());
        self.end_selecting();
        let chats = MovedChats { list, ids };
        self.dialogs.move_chats(chats, ".list-head button".into());
    }
}

/// The page's view of the list.
pub fn use_list_view() -> ListView {
    expect_context()
}

/// The conversations from one to another, in the order of the list.
fn range(rows: &[ListRow], from: ConversationId, to: ConversationId) -> Vec<ConversationId> {
    let place = |id| rows.iter().position(|row| row.id == id);
    let (Some(from), Some(to)) = (place(from), place(to)) else {
        return Vec::new();
    };
    let between = rows.get(from.min(to)..=from.max(to)).unwrap_or_default();
    between.iter().map(|row| row.id).collect()
}

/// The selected conversations that are in the list, in its order.
fn listed(rows: &[ListRow], selected: &[ConversationId]) -> Vec<ConversationId> {
    let ids = rows.iter().map(|row| row.id);
    ids.filter(|id| selected.contains(id)).collect()
}
