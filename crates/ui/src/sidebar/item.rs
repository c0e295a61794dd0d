//! One conversation in the list.

use leptos::{ev, html, prelude::*};

use super::texts;
use crate::{
    browser,
    components::icons,
    runtime::{effect::effect, erase::Erase},
    sharing::shared_mark,
    sidebar::{
        drag::Dragging,
        links::{link_id, link_selector},
        list_keys::{RowKey, TabStop},
        list_view::use_list_view,
        row_menu::RowMenu,
    },
    state::{ListRow, route::Route, use_conversation_list, use_navigation},
};
use parlor_protocol::ConversationId;

/// The conversation that is being renamed. It outlives the row's view, which is made anew when the row moves to another day.
#[derive(Clone, Copy)]
pub struct Renaming {
    id: RwSignal<Option<ConversationId>>,
    /// The text of the field, once it was changed.
    typed: StoredValue<Option<String>>,
}

impl Renaming {
    /// Creates the state while nothing is renamed.
    pub fn new() -> Self {
        Self {
            id: RwSignal::new(None),
            typed: StoredValue::new(None),
        }
    }

    /// Shows the field in place of the conversation's link.
    pub fn begin(self, id: ConversationId) {
        self.typed.set_value(None);
        self.id.set(Some(id));
    }

    fn end(self) {
        self.typed.set_value(None);
        self.id.set(None);
    }
}

/// The link, the menu, and the sign of an active run.
#[component]
pub fn ConversationItem(row: ListRow) -> impl IntoView {
    // Of a conversation next to a page, the page is the current one.
    let page_route = use_navigation().page_route();
    let id = row.id;
    let here = Memo::new(move |_| page_route.get() == Route::Conversation(id));
    let (renaming, dragging) = (expect_context::<Renaming>(), expect_context::<Dragging>());
    let is_renamed = Memo::new(move |_| renaming.id.get() == Some(id));
    let show = {
        let row = row.clone();
        let view = use_list_view();
        move || match (is_renamed.get(), view.is_selecting()) {
            (true, _) => view! { <RenameField row=row.clone() renaming/> }.erase(),
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

/// The selector of the field.
const FIELD: &str = ".item-rename";

/// The title as a field: Enter and leaving the field save it, Escape does not.
#[component]
fn RenameField(row: ListRow, renaming: Renaming) -> impl IntoView {
    let list = use_conversation_list();
    let input = NodeRef::<html::Input>::new();
    let before = row.title.get_untracked();
    let typed = renaming.typed.get_value();
    let is_begun = typed.is_some();
    let title = typed.unwrap_or_else(|| before.clone());
    // The click that opened the field ends after its first effect and may remove the selection. The whole title is
    // therefore selected with the next frame, or before the first key if that comes earlier.
    let is_selected = StoredValue::new(is_begun);
    let select_once = move || {
        if is_selected.try_update_value(|is_selected| std::mem::replace(is_selected, true)) == Some(false)
            && let Some(input) = input.get_untracked()
        {
            input.select();
        }
    };
    effect(move || {
        if let Some(input) = input.get() {
            browser::focus(&input);
            if !is_begun {
                input.select();
                browser::on_next_frame(select_once);
            }
        }
    });
    let save = move |after: &str| list.rename_to(row.id, after, &before);
    let save_on_leaving = save.clone();
    // A row that moves takes the focus from its field for a moment, and a field that is removed is not left either. Another
    // row may begin to be renamed before the next frame.
    let left = move |event: ev::FocusEvent| {
        // Enter or Escape has ended it.
        if renaming.id.get_untracked().is_none() {
            return;
        }
        let after = event_target_value(&event);
        let save = save_on_leaving.clone();
        browser::on_next_frame(move || match renaming.id.get_untracked() {
            Some(id) if id == row.id => {
                let is_here = input
                    .try_get_untracked()
                    .flatten()
                    .is_some_and(|input| input.is_connected());
                if is_here && !browser::has_focus_in(FIELD) {
                    renaming.end();
                    save(&after);
                }
            }
            Some(_) => save(&after),
            None => {}
        });
    };
    let on_key = move |event: ev::KeyboardEvent| {
        select_once();
        match event.key().as_str() {
            "Enter" if !browser::is_composing(&event) => {
                event.prevent_default();
                let after = input.get_untracked().map(|input| input.value());
                renaming.end();
                save(&after.unwrap_or_default());
                focus_link(row.id);
            }
            "Escape" => {
                // Escape must not close the drawer.
                event.prevent_default();
                renaming.end();
                focus_link(row.id);
            }
            _ => {}
        }
    };
    view! {
        <input
            node_ref=input
            class="item-rename"
            aria-label=texts::RENAME_FIELD
            maxlength="200"
            prop:value=title
            on:keydown=on_key
            on:input=move |_| renaming.typed.set_value(input.get_untracked().map(|input| input.value()))
            on:blur=left
        />
    }
}

/// Returns the focus to the link, which is back with the next frame.
fn focus_link(id: ConversationId) {
    browser::on_next_frame(move || browser::focus_selector(&link_selector(id)));
}
