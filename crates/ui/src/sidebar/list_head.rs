//! The head of the list: its name and its menu, or what can be done with the selected conversations. The code of what is not shown at
//! first is loaded when the browser has nothing else to do.

use std::sync::Arc;

use leptos::{ev, prelude::*, wasm_split::wasm_split};

use super::{
    list_view::{ListView, use_list_view},
    texts,
};
use crate::{
    commands::Shortcut,
    components::{
        icon_button::IconButton,
        icons,
        menu::{ItemKind, Menu},
    },
    projects::use_project_dialogs,
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part},
    },
    state::use_conversation_list,
};
use parlor_protocol::ListChange;

/// The head.
pub fn list_head() -> AnyView {
    let view = use_list_view();
    let (menu, more) = (Menu::new("list-menu"), Menu::new("selection-menu"));
    // Not with each row that is selected.
    let is_selecting = Memo::new(move |_| view.is_selecting());
    let content = move || match is_selecting.get() {
        true => lazy_part(move || load(Part::Selection, view, more)),
        false => name_and_menu(view, menu),
    };
    view! {
        {move || content()}
        {menu.view(|| texts::LIST_MENU.into(), move || lazy_part(move || load(Part::Menu, view, menu)))}
        {more.view(|| texts::MORE.into(), move || lazy_part(move || load(Part::More, view, more)))}
    }
    .erase()
}

/// A part that is not shown at first.
#[derive(Clone, Copy, Debug)]
enum Part {
    Menu,
    Selection,
    More,
}

#[wasm_split(palette, wasm_split_path = leptos::wasm_split, fallible)]
fn load(part: Part, view: ListView, menu: Menu) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || match part {
        Part::Menu => menu_items(view, menu),
        Part::Selection => selection_bar(view, menu),
        Part::More => more_items(view, menu),
    }))
}

fn name_and_menu(view: ListView, menu: Menu) -> AnyView {
    let dialogs = use_project_dialogs();
    let back = move || {
        view.is_archive().then(|| {
            IconButton::new(texts::BACK_TO_CHATS, icons::previous(), move || {
                view.show_archive(false)
            })
            .view()
        })
    };
    let create = move || {
        (!view.is_archive()).then(|| {
            IconButton::new(texts::NEW_PROJECT, icons::folder_plus(), move || {
                dialogs.create(".list-head button".into());
            })
            .view()
        })
    };
    view! {
        <div class="list-head">
            {back}
            <h2>{move || if view.is_archive() { texts::ARCHIVED } else { texts::CHATS }}</h2>
            {create}
            {menu.icon_button(texts::LIST_MENU, icons::dots())}
        </div>
    }
    .erase()
}

fn menu_items(view: ListView, menu: Menu) -> AnyView {
    let list = use_conversation_list();
    let item = |name, icon, act: Box<dyn Fn()>| menu.item(ItemKind::Action(icon), name, act);
    let select = item(
        texts::SELECT,
        icons::check(),
        Box::new(move || view.begin_selecting(None)),
    );
    let items = match untrack(|| view.is_archive()) {
        true => vec![select],
        false => vec![
            select,
            item(
                texts::MARK_ALL_READ,
                icons::eye(),
                Box::new(move || list.mark_all_read()),
            ),
            item(
                texts::SHOW_ARCHIVED,
                icons::archive(),
                Box::new(move || view.show_archive(true)),
            ),
        ],
    };
    menu.items(items)
}

/// The rarer actions for the selected conversations: a bar of a phone has room for five buttons.
fn more_items(view: ListView, menu: Menu) -> AnyView {
    let item = |name, icon, act: Box<dyn Fn()>| menu.item(ItemKind::Action(icon), name, act);
    let read = move || {
        if untrack(|| view.count()) > 0 {
            view.change_selected(ListChange::MarkRead);
        }
    };
    menu.items(vec![
        item(
            texts::MOVE,
            icons::folder(),
            Box::new(move || view.ask_for_project_of_selected()),
        ),
        item(texts::MARK_READ, icons::eye(), Box::new(read)),
    ])
}

fn selection_bar(view: ListView, more: Menu) -> AnyView {
    let on_key = move |event: ev::KeyboardEvent| {
        if Shortcut::Close.is_pressed(&event) {
            view.end_selecting();
            event.prevent_default();
        }
    };
    let button = move |name, icon, change| {
        IconButton::new(name, icon, move || {
            if untrack(|| view.count()) > 0 {
                view.change_selected(change);
            }
        })
        .disabled_while(move || view.count() == 0)
        .view()
    };
    let archive = match untrack(|| view.is_archive()) {
        true => button(texts::UNARCHIVE, icons::unarchive(), ListChange::Unarchive),
        false => button(texts::ARCHIVE, icons::archive(), ListChange::Archive),
    };
    view! {
        <div class="list-head" role="toolbar" aria-label=texts::SELECTED_CHATS on:keydown=on_key>
            <p role="status">{move || texts::selected(view.count())}</p>
            {IconButton::new(texts::SELECT_ALL, icons::check_all(), move || view.toggle_all()).view()}
            {archive}
            {button(texts::DELETE, icons::trash(), ListChange::Delete)}
            {more.icon_button(texts::MORE, icons::dots())}
            {IconButton::new(texts::END_SELECTING, icons::close(), move || view.end_selecting()).view()}
        </div>
    }
    .erase()
}
