//! The keys of the list of conversations. It is one stop of Tab; the arrow keys go from row to row.

use leptos::{ev, html, prelude::*};

use crate::{
    browser,
    commands::Shortcut,
    runtime::{
        roving::{AtEnd, Move},
        signal::after_hydration,
    },
    state::{use_conversation_list, use_navigation},
};
use parlor_protocol::ConversationId;

/// The row that Tab reaches: the one that had the focus last, else the shown conversation, else the first.
#[derive(Clone, Copy)]
pub struct TabStop {
    last: RwSignal<Option<ConversationId>>,
    row: Memo<Option<ConversationId>>,
    is_hydrated: ReadSignal<bool>,
}

impl TabStop {
    /// Creates and provides it.
    pub fn provide() -> Self {
        let (list, route) = (use_conversation_list(), use_navigation().page_route());
        let last = RwSignal::new(None);
        let row = Memo::new(move |_| {
            list.with_rows(|rows| {
                let is_listed = |id: &ConversationId| rows.iter().any(|row| row.id == *id);
                let last = last.get().filter(is_listed);
                let shown = || route.get().conversation_id().filter(is_listed);
                last.or_else(shown).or_else(|| rows.first().map(|row| row.id))
            })
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
    pub fn tabindex(self, id: ConversationId) -> Option<&'static str> {
        let is_other = self.is_hydrated.get() && self.row.get() != Some(id);
        is_other.then_some("-1")
    }

    /// Notes that a row has the focus.
    pub fn on_focus(self, id: ConversationId) {
        self.last.set(Some(id));
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
        } else {
            return;
        }
        event.prevent_default();
    }
}
