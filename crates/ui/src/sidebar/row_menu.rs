//! The actions of a conversation in the list: one menu for all rows, which opens beside the row's button. The code of its items is
//! loaded when the browser has nothing else to do.

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};
use parlor_protocol::ListChange;

use super::{deletion::Deletion, list_view::use_list_view, rename::Renaming, texts};
use crate::{
    commands::Shortcut,
    components::{
        icons,
        menu::{ItemKind, Menu},
    },
    runtime::{
        bidi::isolated,
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part},
    },
    sharing::ShareDialog,
    state::ListRow,
};

/// The menu, and the row for which it was opened last.
#[derive(Clone, Copy)]
pub struct RowMenu {
    menu: Menu,
    row: RwSignal<Option<ListRow>>,
}

impl RowMenu {
    /// Creates a closed menu.
    pub fn new() -> Self {
        Self {
            menu: Menu::new("row-menu"),
            row: RwSignal::new(None),
        }
    }

    /// The button at a row.
    pub fn button(self, row: ListRow) -> AnyView {
        let title = row.title.clone();
        let id = ["actions-", &row.id.to_string()].concat();
        let selector = ["[id='", &id, "']"].concat();
        let row_id = row.id;
        let is_open = move || {
            self.menu.is_open()
                && self
                    .row
                    .with(|row| row.as_ref().is_some_and(|row| row.id == row_id))
        };
        // Before the button opens the menu.
        let press = move |_| {
            self.menu.set_button(selector.clone());
            self.row.set(Some(row.clone()));
        };
        view! {
            <button
                type="button"
                id=id
                class="icon-button"
                class:is-open=is_open
                // The keys of the row open the menu, too.
                tabindex="-1"
                aria-keyshortcuts=Shortcut::RowActions.aria()
                aria-label=move || texts::actions_for(&isolated(&title.get()))
                title=texts::ACTIONS
                aria-haspopup="menu"
                popovertarget=self.menu.id()
                on:click=press
            >
                {icons::dots()}
            </button>
        }
        .erase()
    }

    /// The menu.
    pub fn view(self, renaming: Renaming) -> AnyView {
        let name = move || match self.row.get() {
            Some(row) => texts::actions_for(&isolated(&row.title.get())),
            None => texts::ACTIONS.into(),
        };
        self.menu
            .view(name, move || lazy_part(move || load_items(self, renaming)))
    }

    fn items(self, renaming: Renaming) -> Option<AnyView> {
        let (deletion, sharing) = (expect_context::<Deletion>(), expect_context::<ShareDialog>());
        let row = self.row.get()?;
        let item = |name, icon, act: Box<dyn Fn()>| self.menu.item(ItemKind::Action(icon), name, act);
        let (id, title) = (row.id, row.title);
        let button = self.menu.button();
        let view = use_list_view();
        let change = |name, icon, change| item(name, icon, Box::new(move || view.change(id, change)));
        let mut items = Vec::new();
        if row.is_temporary.get_untracked() {
            items.push(change(texts::KEEP, icons::check(), ListChange::Keep));
        }
        items.push(match row.is_pinned.get_untracked() {
            true => change(texts::UNPIN, icons::unpin(), ListChange::Unpin),
            false => change(texts::PIN, icons::pin(), ListChange::Pin),
        });
        if row.is_unseen.get_untracked() {
            items.push(change(texts::MARK_READ, icons::eye(), ListChange::MarkRead));
        }
        items.extend([
            item(
                texts::SHARE,
                icons::people(),
                Box::new(move || sharing.open(id, button.clone())),
            ),
            item(
                texts::RENAME,
                icons::pencil(),
                Box::new(move || renaming.begin(id)),
            ),
            item(
                texts::MOVE,
                icons::folder(),
                Box::new(move || view.ask_for_project(id)),
            ),
            item(
                texts::SELECT_ROW,
                icons::check(),
                Box::new(move || view.begin_selecting(Some(id))),
            ),
            match untrack(|| view.is_archive()) {
                true => change(texts::UNARCHIVE, icons::unarchive(), ListChange::Unarchive),
                false => change(texts::ARCHIVE, icons::archive(), ListChange::Archive),
            },
            item(
                texts::DELETE,
                icons::trash(),
                Box::new(move || deletion.delete(id, &title.get_untracked())),
            ),
        ]);
        Some(self.menu.items(items))
    }
}

#[wasm_split(palette, wasm_split_path = leptos::wasm_split, fallible)]
fn load_items(menu: RowMenu, renaming: Renaming) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || menu.items(renaming).erase()))
}
