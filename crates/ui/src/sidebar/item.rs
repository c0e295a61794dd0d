//! One conversation in the list.

use leptos::prelude::*;

use super::texts;
use crate::{
    components::icons,
    runtime::erase::Erase,
    sharing::shared_mark,
    sidebar::{
        drag::Dragging,
        links::link_id,
        list_keys::{RowKey, TabStop},
        list_view::use_list_view,
        rename::{Renaming, rename_field},
        row_menu::RowMenu,
    },
    state::{ListRow, route::Route, use_conversation_list, use_navigation},
};

/// The link, the menu, and the sign of an active run.
#[component]
pub fn ConversationItem(row: ListRow) -> impl IntoView {
    // Of a conversation next to a page, the page is the current one.
    let page_route = use_navigation().page_route();
    let id = row.id;
    let here = Memo::new(move |_| page_route.get() == Route::Conversation(id));
    let (renaming, dragging) = (expect_context::<Renaming>(), expect_context::<Dragging>());
    let is_renamed = Memo::new(move |_| renaming.is_renaming(id));
    let show = {
        let row = row.clone();
        let view = use_list_view();
        let is_selecting = Memo::new(move |_| view.is_selecting());
        move || match (is_renamed.get(), is_selecting.get()) {
            (true, _) => rename_field(row.clone(), renaming),
            (false, true) => checkbox(&row),
            (false, false) => view! { <ItemLink row=row.clone() here/> }.erase(),
        }
    };
    view! {
        <li
            class="item"
            class:item-here=here
            draggable=move || if is_renamed.get() { "false" } else { "true" }
            on:dragstart=move |event| dragging.begin(&event, id)
            on:dragend=move |_| dragging.end()
        >
            {show}
        </li>
    }
}

/// The row as a checkbox, while conversations are selected.
fn checkbox(row: &ListRow) -> AnyView {
    let (view, stop) = (use_list_view(), expect_context::<TabStop>());
    let (id, title) = (row.id, row.title.clone());
    let checked = move || if view.is_selected(id) { "true" } else { "false" };
    view! {
        <button
            type="button"
            id=link_id(id)
            class="item-link item-check"
            role="checkbox"
            aria-checked=checked
            tabindex=move || stop.tabindex(RowKey::Chat(id))
            on:focus=move |_| stop.on_focus(RowKey::Chat(id))
            on:click=move |event| view.toggle(id, event.shift_key())
        >
            <span class="item-box">{icons::check()}</span>
            <span class="item-title" dir="auto">{move || title.get()}</span>
        </button>
    }
    .erase()
}

#[component]
fn ItemLink(row: ListRow, here: Memo<bool>) -> impl IntoView {
    let list = use_conversation_list();
    let ListRow {
        id,
        title,
        is_running,
        is_waiting,
        is_temporary,
        ..
    } = row.clone();
    let menu = expect_context::<RowMenu>();
    let (shown, shared_title) = (title.clone(), title);
    let actions = menu.button(row.clone());
    let stop = expect_context::<TabStop>();
    let has_news = Memo::new(move |_| list.has_news(&row));
    let asks = is_waiting.clone();
    view! {
        <a
            id=link_id(id)
            class="item-link"
            href=Route::Conversation(id).path()
            tabindex=move || stop.tabindex(RowKey::Chat(id))
            on:focus=move |_| stop.on_focus(RowKey::Chat(id))
            aria-current=move || here.get().then_some("page")
        >
            {move || is_temporary.get().then(|| view! {
                <span class="item-temporary" title=texts::IS_TEMPORARY>
                    {icons::dashed()}
                    <span class="visually-hidden">{texts::IS_TEMPORARY}</span>
                </span>
            }.erase())}
            <span class="item-title" dir="auto">{move || shown.get()}</span>
            {move || is_running.get().then(|| if is_waiting.get() {
                view! {
                    <span class="item-dot item-waiting"><span class="visually-hidden">{texts::WAITS_FOR_YOU}</span></span>
                }.erase()
            } else {
                view! { <span class="item-dot"><span class="visually-hidden">{texts::IS_ANSWERING}</span></span> }.erase()
            })}
            {move || (has_news.get() && !asks.get()).then(|| view! {
                <span class="item-dot item-news"><span class="visually-hidden">{texts::HAS_NEWS}</span></span>
            }.erase())}
        </a>
        <div class="item-actions needs-script">
            {shared_mark(id, shared_title)}
            {actions}
        </div>
    }
}
