//! The keys of the list of conversations. It is one stop of Tab; the arrow keys go from row to row.

use leptos::{ev, html, prelude::*};

use crate::{
    browser,
    commands::Shortcut,
    runtime::{
        roving::{AtEnd, Move},
        signal::after_hydration,
    },
    sidebar::list_view::use_list_view,
    state::{ListRow, route::Route, use_navigation, use_projects},
};
use parlor_protocol::{ConversationId, ListChange, ProjectId};

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKey {
    Chat(ConversationId),
    Project(ProjectId),
    SharedProject(ProjectId),
}

/// The row that Tab reaches: the one that had the focus last, else the shown conversation, else the first.
#[derive(Clone, Copy)]
pub struct TabStop {
    last: RwSignal<Option<RowKey>>,
    row: Memo<Option<RowKey>>,
    is_hydrated: ReadSignal<bool>,
}

impl TabStop {
    /// Creates and provides it.
    pub fn provide() -> Self {
        let (view, route) = (use_list_view(), use_navigation().page_route());
        let last = RwSignal::new(None);
        let row = Memo::new(move |_| {
            let rows = view.row_keys();
            let is_listed = |key: &RowKey| rows.contains(key);
            let last = last.get().filter(is_listed);
            let shown = || {
                let key = match route.get() {
                    Route::Conversation(id) => Some(RowKey::Chat(id)),
                    Route::Project(id) => Some(RowKey::Project(id)),
                    Route::SharedProject(id) => Some(RowKey::SharedProject(id)),
                    _ => None,
                };
                key.filter(is_listed)
            };
            last.or_else(shown).or_else(|| rows.first().copied())
        });
        let stop = Self {
            last,
            row,
            is_hydrated: after_hydration(),
        };
        provide_context(stop);
        stop
    }

    /// The `tabindex` of a row's link. Without scripts, Tab reaches all of them. Tracked.
    pub fn tabindex(self, key: RowKey) -> Option<&'static str> {
        let is_other = self.is_hydrated.get() && self.row.get() != Some(key);
        is_other.then_some("-1")
    }

    /// Notes that a row has the focus.
    pub fn on_focus(self, key: RowKey) {
        self.last.set(Some(key));
    }

    /// Handles a key in the list.
    pub fn on_key(self, event: &ev::KeyboardEvent, list: NodeRef<html::Div>) {
        // Not in the field of a title.
        if !browser::is_within(event, ".item-link, .item-actions") {
            return;
        }
        if Shortcut::RowActions.is_pressed(event) {
            browser::press_in_row(event, ".item", ".item-actions [aria-haspopup=menu]");
        } else if let (true, Some(to), Some(list)) = (
            Shortcut::MoveInList.is_pressed(event),
            Move::from_key(&event.key()),
            list.get_untracked(),
        ) {
            browser::move_focus_among(&list, ".item", Some(".item-link"), |from, count| {
                to.target(from, count, AtEnd::Stop)
            });
        } else if !self.change_row(event) {
            return;
        }
        event.prevent_default();
    }

    /// Handles a key that selects, or that changes the row with the focus. Returns false for other keys.
    fn change_row(self, event: &ev::KeyboardEvent) -> bool {
        let view = use_list_view();
        let is_selecting = untrack(|| view.is_selecting());
        if Shortcut::SelectAll.is_pressed(event) && is_selecting {
            view.toggle_all();
            return true;
        }
        if event.key() == "Escape" && is_selecting {
            view.end_selecting();
            return true;
        }
        let focused = match self.last.get_untracked() {
            Some(RowKey::Chat(id)) => id,
            Some(RowKey::Project(id)) => return self.fold(event, id),
            Some(RowKey::SharedProject(_)) | None => return false,
        };
        let find = |rows: &[ListRow]| rows.iter().find(|row| row.id == focused).cloned();
        let Some(row) = untrack(|| view.list().with_rows(find)) else {
            return false;
        };
        if Shortcut::MoveRow.is_pressed(event) && !is_selecting {
            view.ask_for_project(row.id);
        } else if Shortcut::SelectRow.is_pressed(event) {
            match is_selecting {
                true => view.toggle(row.id, event.shift_key()),
                false => view.begin_selecting(Some(row.id)),
            }
        } else if is_selecting {
            return false;
        } else if Shortcut::PinRow.is_pressed(event) {
            let is_pinned = row.is_pinned.get_untracked();
            view.change(
                row.id,
                if is_pinned {
                    ListChange::Unpin
                } else {
                    ListChange::Pin
                },
            );
        } else if Shortcut::ArchiveRow.is_pressed(event) {
            view.change(
                row.id,
                if untrack(|| view.is_archive()) {
                    ListChange::Unarchive
                } else {
                    ListChange::Archive
                },
            );
        } else {
            return false;
        }
        true
    }

    /// Handles a key that folds or unfolds a project. Returns false for other keys.
    fn fold(self, event: &ev::KeyboardEvent, id: ProjectId) -> bool {
        let is_fold = Shortcut::FoldProject.is_pressed(event);
        if is_fold {
            use_projects().unfold(id, event.key() == "ArrowRight");
        }
        is_fold
    }
}
