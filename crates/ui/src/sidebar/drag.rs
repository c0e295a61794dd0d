//! Dragging of conversations onto projects, and out of them onto the days. The menu of a row does the same by keyboard and
//! touch.

use leptos::{ev, prelude::*};

use super::list_view::ListView;
use crate::browser;
use parlor_protocol::{ConversationId, ListChange, ProjectId};

/// The conversations that are dragged, and the place that they are over.
#[derive(Clone, Copy)]
pub struct Dragging {
    view: ListView,
    dragged: RwSignal<Vec<ConversationId>>,
    /// A project, or `None` for the conversations in none.
    over: RwSignal<Option<Option<ProjectId>>>,
}

impl Dragging {
    /// Nothing is dragged.
    pub fn new(view: ListView) -> Self {
        Self {
            view,
            dragged: RwSignal::default(),
            over: RwSignal::new(None),
        }
    }

    /// Begins to drag a conversation, with all selected ones if it is selected.
    pub fn begin(self, event: &ev::DragEvent, id: ConversationId) {
        let is_selected = untrack(|| self.view.is_selected(id));
        let ids = match is_selected {
            true => untrack(|| self.view.listed_selection()),
            false => vec![id],
        };
        browser::begin_move(event);
        self.dragged.set(ids);
    }

    /// Ends the drag, wherever it ends.
    pub fn end(self) {
        self.dragged.set(Vec::new());
        self.over.set(None);
    }

    /// Returns true while a place is what the conversations would be dropped on. Tracked.
    pub fn is_over(self, place: Option<ProjectId>) -> bool {
        self.over.get() == Some(place)
    }

    /// Lets the conversations be dropped on a place.
    pub fn enter(self, event: &ev::DragEvent, place: Option<ProjectId>) {
        // The archive has no projects.
        if !untrack(|| self.dragged.with(Vec::is_empty) || self.view.is_archive()) {
            event.prevent_default();
            if self.over.get_untracked() != Some(place) {
                self.over.set(Some(place));
            }
        }
    }

    /// Moves the conversations to the place on which they are dropped.
    pub fn drop_on(self, event: &ev::DragEvent, place: Option<ProjectId>) {
        let dragged = self.dragged.get_untracked();
        self.end();
        if !dragged.is_empty() {
            event.prevent_default();
            let change = ListChange::Move { project_id: place };
            untrack(|| self.view.list()).change(dragged, change);
        }
    }
}
