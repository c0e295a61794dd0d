//! Menus: the actions behind one button, in a popover beside it.
//!
//! The popover opens and closes by the platform, without scripts too. Its items are made when it opens, so that a menu in every row
//! of a list costs a button only; they may be a lazy part ([`Menu::items`] places the menu once they are there). Keyboard: ARIA APG,
//! "Menu Button".

use leptos::{ev, html, prelude::*, web_sys::HtmlElement};

use crate::{
    browser,
    components::icons,
    runtime::{
        effect::effect,
        erase::Erase,
        roving::{AtEnd, Move},
    },
};

/// A menu. Several buttons may open it, one at a time.
#[derive(Clone, Copy)]
pub struct Menu {
    id: StoredValue<String>,
    list: NodeRef<html::Div>,
    is_open: RwSignal<bool>,
    /// The selector of the button that opened it.
    button: StoredValue<String>,
}

/// A kind of item, with its icon.
pub enum ItemKind {
    /// Performs an action.
    Action(AnyView),
    /// It is on or off by itself.
    CheckBox(AnyView, bool),
    /// It is chosen, or another one of its group.
    Radio(bool),
}

impl Menu {
    /// Creates a closed menu. The id of its element is unique in the document.
    pub fn new(id: impl Into<String>) -> Self {
        let id = id.into();
        Self {
            button: StoredValue::new(["[popovertarget='", &id, "']"].concat()),
            id: StoredValue::new(id),
            list: NodeRef::new(),
            is_open: RwSignal::new(false),
        }
    }

    /// The id of the menu's element, which its buttons name as their `popovertarget`.
    pub fn id(self) -> String {
        self.id.get_value()
    }

    /// Returns true while it is open. Tracked.
    pub fn is_open(self) -> bool {
        self.is_open.get()
    }

    /// Says which button opens the menu now. Only needed if there are several.
    pub fn set_button(self, selector: String) {
        self.button.set_value(selector);
    }

    /// The selector of the button that opened the menu last.
    pub fn button(self) -> String {
        self.button.get_value()
    }

    /// The button with only an icon: it opens the menu, or closes it.
    pub fn icon_button(self, name: &'static str, icon: AnyView) -> AnyView {
        view! {
            <button
                type="button"
                class="icon-button needs-script"
                aria-label=name
                title=name
                aria-haspopup="menu"
                popovertarget=self.id()
            >
                {icon}
            </button>
        }
        .erase()
    }

    /// The menu itself. `content` calls [`items`](Self::items) when the menu opens.
    pub fn view(
        self,
        name: impl Fn() -> String + Send + Sync + 'static,
        content: impl Fn() -> AnyView + Send + Sync + 'static,
    ) -> AnyView {
        let (list, is_open) = (self.list, self.is_open);
        view! {
            <div
                node_ref=list
                id=self.id()
                class="menu"
                popover="auto"
                role="menu"
                aria-label=name
                on:toggle=move |event: ev::Event| is_open.set(browser::is_toggled_open(&event))
            >
                {move || is_open.get().then(&content)}
            </div>
        }
        .erase()
    }

    /// The items of the open menu, of which the first gets the focus.
    pub fn items(self, items: Vec<AnyView>) -> AnyView {
        let list = self.list;
        effect(move || {
            if let Some(list) = list.get() {
                self.button
                    .with_value(|button| browser::place_beside(&list, button));
                move_focus(&list, Move::First);
            }
        });
        let on_key = move |event: ev::KeyboardEvent| {
            let Some(list) = list.get_untracked() else { return };
            let key = event.key();
            if let Some(to) = Move::from_key(&key) {
                event.prevent_default();
                move_focus(&list, to);
            } else if key == "Tab" {
                self.close();
            }
        };
        view! { <div class="menu-items" on:keydown=on_key>{items}</div> }.erase()
    }

    /// An item: it closes the menu, and then acts.
    pub fn item(self, kind: ItemKind, name: &'static str, act: impl Fn() + 'static) -> AnyView {
        let press = move |_| {
            self.close();
            act();
        };
        let check = || view! { <span class="menu-check">{icons::check()}</span> }.erase();
        let blank = || view! { <span class="icon"></span> }.erase();
        let (role, is_checked, icon, mark) = match kind {
            ItemKind::Action(icon) => ("menuitem", None, icon, None),
            ItemKind::CheckBox(icon, is_checked) => {
                let mark = is_checked.then(check);
                ("menuitemcheckbox", Some(is_checked), icon, mark)
            }
            ItemKind::Radio(is_checked) => {
                let icon = if is_checked { icons::check() } else { blank() };
                ("menuitemradio", Some(is_checked), icon, None)
            }
        };
        view! {
            <button
                type="button"
                class="menu-item"
                role=role
                aria-checked=is_checked.map(|is_checked| if is_checked { "true" } else { "false" })
                tabindex="-1"
                on:click=press
            >
                {icon} <span class="menu-name">{name}</span> {mark}
            </button>
        }
        .erase()
    }

    /// Closes the menu, and returns the focus to its button.
    pub fn close(self) {
        if let Some(list) = self.list.get_untracked() {
            browser::close_popover(&list);
        }
        self.button.with_value(|button| browser::focus_selector(button));
    }
}

fn move_focus(list: &HtmlElement, to: Move) {
    browser::move_focus_among(list, ".menu-item", None, |from, count| {
        to.target(from, count, AtEnd::Wrap)
    });
}
