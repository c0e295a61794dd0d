//! One conversation in the list.

use leptos::{ev, html, prelude::*};

use crate::{
    protocol::ConversationId,
    ui::{
        browser, components::icons, runtime::effect::effect, runtime::erase::Erase, sharing::list_button,
        sidebar::deletion::DeletionDialog, sidebar::links::link_selector, state::ListRow,
        state::route::Route, state::use_conversation_list, state::use_navigation,
    },
};

/// The link, the menu, and the sign of an active run.
#[component]
pub fn ConversationItem(row: ListRow) -> impl IntoView {
    let chat_route = use_navigation().chat_route();
    let route = Route::Conversation(row.id);
    let here = Memo::new(move |_| chat_route.get() == route);
    let renaming = RwSignal::new(false);
    let show = {
        let row = row.clone();
        move || match renaming.get() {
            true => view! { <RenameField row=row.clone() renaming/> }.erase(),
            false => view! { <ItemLink row=row.clone() here renaming/> }.erase(),
        }
    };
    view! {
        <li class="item" class:item-here=here>
            {show}
        </li>
    }
}

#[component]
fn ItemLink(row: ListRow, here: Memo<bool>, renaming: RwSignal<bool>) -> impl IntoView {
    let deletion = expect_context::<DeletionDialog>();
    let list = use_conversation_list();
    let ListRow {
        id,
        title,
        is_running,
        is_waiting,
        ..
    } = row.clone();
    let name = {
        let title = title.clone();
        move |action: &'static str| {
            let title = title.clone();
            move || [action, " “", &title.get(), "”"].concat()
        }
    };
    let (rename_name, delete_name) = (name("Rename"), name("Delete"));
    let (shown, shared_title) = (title.clone(), title.clone());
    let has_news = Memo::new(move |_| list.has_news(&row));
    let asks = is_waiting.clone();
    view! {
        <a
            class="item-link"
            href=Route::Conversation(id).path()
            aria-current=move || here.get().then_some("page")
        >
            <span class="item-title" dir="auto">{move || shown.get()}</span>
            {move || is_running.get().then(|| if is_waiting.get() {
                view! {
                    <span class="item-dot item-waiting"><span class="visually-hidden">"waits for you"</span></span>
                }.erase()
            } else {
                view! { <span class="item-dot"><span class="visually-hidden">"is answering"</span></span> }.erase()
            })}
            {move || (has_news.get() && !asks.get()).then(|| view! {
                <span class="item-dot item-news"><span class="visually-hidden">"has something new"</span></span>
            }.erase())}
        </a>
        <div class="item-actions needs-script">
            {list_button(id, shared_title)}
            <button
                type="button"
                class="icon-button"
                aria-label=rename_name
                title="Rename"
                on:click=move |_| renaming.set(true)
            >
                {icons::pencil()}
            </button>
            <button
                type="button"
                class="icon-button"
                aria-label=delete_name
                title="Delete"
                on:click=move |_| deletion.ask(id, &title.get_untracked())
            >
                {icons::trash()}
            </button>
        </div>
    }
}

/// The title as a field: Enter and leaving the field save it, Escape does not.
#[component]
fn RenameField(row: ListRow, renaming: RwSignal<bool>) -> impl IntoView {
    let list = use_conversation_list();
    let input = NodeRef::<html::Input>::new();
    let title = row.title.get_untracked();
    let before = title.clone();
    // The click that opened the field ends after its first effect and may remove the selection. The whole title is
    // therefore selected with the next frame, or before the first key if that comes earlier.
    let is_selected = StoredValue::new(false);
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
            input.select();
            browser::on_next_frame(select_once);
        }
    });
    let save = move || {
        // Removing the field also blurs it, which is not a second save.
        if !renaming.get_untracked() {
            return;
        }
        renaming.set(false);
        let after = input
            .get_untracked()
            .map(|input| input.value())
            .unwrap_or_default();
        let after = after.trim();
        if !after.is_empty() && after != before {
            list.rename(row.id, after.into());
        }
    };
    let save_on_blur = save.clone();
    let on_key = move |event: ev::KeyboardEvent| {
        select_once();
        match event.key().as_str() {
            "Enter" if !browser::is_composing(&event) => {
                event.prevent_default();
                save();
                focus_link(row.id);
            }
            "Escape" => {
                // Escape must not close the drawer.
                event.prevent_default();
                renaming.set(false);
                focus_link(row.id);
            }
            _ => {}
        }
    };
    view! {
        <input
            node_ref=input
            class="item-rename"
            aria-label="Title of the conversation"
            maxlength="200"
            prop:value=title
            on:keydown=on_key
            on:blur=move |_| save_on_blur()
        />
    }
}

/// Returns the focus to the link, which is back with the next frame.
fn focus_link(id: ConversationId) {
    browser::on_next_frame(move || browser::focus_selector(&link_selector(id)));
}
