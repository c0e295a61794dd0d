//! A list below a text field: what is typed selects its rows, the arrow keys move in them, and Enter chooses one. ARIA APG,
//! "Combobox" with a list that is always shown.

use leptos::{ev, html, prelude::*};

use crate::{
    browser,
    runtime::{
        erase::Erase,
        roving::{AtEnd, Move},
    },
};

/// A row: its place, which is in its id, and its key.
pub type ListboxRow = (usize, String);

/// The rows of a list, one of which is active.
#[derive(Clone, Copy)]
pub struct Listbox {
    /// The beginning of the ids.
    name: &'static str,
    /// The shown rows in order.
    rows: Memo<Vec<ListboxRow>>,
    /// The key of the row to which the user has moved.
    chosen: RwSignal<Option<String>>,
    active: Memo<Option<ListboxRow>>,
}

impl Listbox {
    /// Creates a list. The row with the key `chosen` is active at first, if there is one.
    pub fn new(name: &'static str, rows: Memo<Vec<ListboxRow>>, chosen: Option<String>) -> Self {
        let chosen = RwSignal::new(chosen);
        let active = Memo::new(move |_| {
            rows.with(|rows| {
                let is_chosen = |(_, key): &&ListboxRow| chosen.with(|chosen| chosen.as_ref() == Some(key));
                rows.iter().find(is_chosen).or(rows.first()).cloned()
            })
        });
        Self {
            name,
            rows,
            chosen,
            active,
        }
    }

    /// The key of the active row: the one to which the user has moved, or the first. Tracked.
    pub fn active_key(self) -> Option<String> {
        self.active
            .with(|active| active.as_ref().map(|(_, key)| key.clone()))
    }

    /// Returns true for the key of the active row. Tracked.
    pub fn is_active(self, key: &str) -> bool {
        self.active
            .with(|active| active.as_ref().is_some_and(|(_, active)| active == key))
    }

    /// The id of the element of a row.
    pub fn row_id(self, place: usize) -> String {
        [self.name, "-", &place.to_string()].concat()
    }

    /// The id of the element of the list.
    pub fn list_id(self) -> String {
        [self.name, "-list"].concat()
    }

    /// Makes the first row active: the best match of what was typed.
    pub fn restart(self) {
        self.chosen.set(None);
    }

    /// Scrolls the active row into the list's view.
    pub fn scroll_to_active(self) {
        let place = self
            .active
            .with_untracked(|active| active.as_ref().map(|(place, _)| *place));
        if let Some(row) = place.and_then(|place| browser::element_by_id(&self.row_id(place))) {
            browser::scroll_into_view(&row);
        }
    }

    /// Performs a key that moves or chooses. Returns false for any other, and for those of an input method.
    pub fn press(self, event: &ev::KeyboardEvent, choose: impl FnOnce(String)) -> bool {
        if browser::is_composing(event) {
            return false;
        }
        let key = event.key();
        if let Some(to) = Move::from_arrow(&key) {
            self.move_active(to);
        } else if key == "Enter" {
            if let Some(key) = untrack(|| self.active_key()) {
                choose(key);
            }
        } else {
            return false;
        }
        event.prevent_default();
        true
    }

    /// Moves to another row, from the last one to the first one and back.
    fn move_active(self, to: Move) {
        let next = self.rows.with_untracked(|rows| {
            let from = self.active.with_untracked(|active| {
                let (place, _) = active.as_ref()?;
                rows.iter().position(|(other, _)| other == place)
            });
            let next = to.target(from, rows.len(), AtEnd::Wrap)?;
            rows.get(next).map(|(_, key)| key.clone())
        });
        if next.is_some() {
            self.chosen.set(next);
            self.scroll_to_active();
        }
    }

    /// The field above the list, with what is typed in it at first.
    pub fn field(
        self,
        label: &'static str,
        typed: String,
        field: NodeRef<html::Input>,
        on_key: impl Fn(ev::KeyboardEvent) + 'static,
        on_typed: impl Fn(String) + 'static,
    ) -> AnyView {
        let active = move || {
            let place = self
                .active
                .with(|active| active.as_ref().map(|(place, _)| *place));
            place.map(|place| self.row_id(place))
        };
        view! {
            <input
                node_ref=field
                type="text"
                prop:value=typed
                role="combobox"
                autofocus
                autocomplete="off"
                autocapitalize="off"
                spellcheck="false"
                enterkeyhint="go"
                placeholder=label
                aria-label=label
                aria-expanded="true"
                aria-autocomplete="list"
                aria-controls=self.list_id()
                aria-activedescendant=active
                on:keydown=on_key
                on:input=move |event| {
                    on_typed(event_target_value(&event));
                    self.restart();
                }
            />
        }
        .erase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_shown_row_is_active_unless_another_is_chosen() {
        let owner = Owner::new();
        owner.with(|| {
            let shown = RwSignal::new(vec![(0, "a".to_owned()), (2, "c".to_owned())]);
            let list = Listbox::new("row", Memo::new(move |_| shown.get()), Some("c".into()));
            assert_eq!(list.active_key().as_deref(), Some("c"));
            list.move_active(Move::Next);
            assert!(list.is_active("a"), "it goes round");
            list.move_active(Move::Previous);
            assert!(list.is_active("c"));
            shown.set(vec![(1, "b".to_owned())]);
            assert!(list.is_active("b"), "the chosen one is not shown");
            list.restart();
            shown.set(vec![(0, "a".to_owned()), (2, "c".to_owned())]);
            assert!(list.is_active("a"));
            shown.set(Vec::new());
            assert_eq!(list.active_key(), None);
        });
    }
}
