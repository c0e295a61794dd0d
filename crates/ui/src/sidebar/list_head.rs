//! The head of the list: its name and its menu, or what can be done with the selected conversations.

use leptos::prelude::*;

use super::{
    list_view::{ListView, use_list_view},
    texts,
};
use crate::{
    components::{
        icon_button::IconButton,
        icons,
        menu::{ItemKind, Menu},
    },
    runtime::erase::Erase,
    state::use_conversation_list,
};
use parlor_protocol::ListChange;

/// The head.
pub fn list_head() -> AnyView {
    let view = use_list_view();
    let menu = Menu::new("list-menu");
    let content = move || match view.is_selecting() {
        true => selection_bar(view),
        false => name_and_menu(view, menu),
    };
    view! {
        {move || content()}
        {menu.view(|| texts::LIST_MENU.into(), move || menu_items(view, menu))}
    }
    .erase()
}

fn name_and_menu(view: ListView, menu: Menu) -> AnyView {
    let back = move || {
        view.is_archive().then(|| {
            IconButton::new(texts::BACK_TO_CHATS, icons::previous(), move || {
                view.show_archive(false)
            })
            .view()
        })
    };
    view! {
        <div class="list-head">
            {back}
            <h2>{move || if view.is_archive() { texts::ARCHIVED } else { texts::CHATS }}</h2>
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

fn selection_bar(view: ListView) -> AnyView {
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
        <div class="list-head" role="toolbar" aria-label=texts::SELECTED_CHATS>
            <p role="status">{move || texts::selected(view.count())}</p>
            {IconButton::new(texts::SELECT_ALL, icons::check_all(), move || view.toggle_all()).view()}
            {button(texts::MARK_READ, icons::eye(), ListChange::MarkRead)}
            {archive}
            {button(texts::DELETE, icons::trash(), ListChange::Delete)}
            {IconButton::new(texts::END_SELECTING, icons::close(), move || view.end_selecting()).view()}
        </div>
    }
    .erase()
}
