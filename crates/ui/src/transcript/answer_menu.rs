//! The less frequent actions of an answer: a menu, and the list of models for another answer. Their code is loaded with
//! the first use.

use std::sync::Arc;

use leptos::{html, prelude::*, wasm_split::wasm_split};

use super::texts;
use crate::{
    browser,
    components::{
        copy::announce_copy,
        icons,
        menu::{ItemKind, Menu},
        toast::use_toasts,
    },
    composer::ModelDialog,
    diagnostics,
    markdown::copy_without_markup,
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part},
    },
    state::{use_conversations, use_run_intents},
};
use parlor_protocol::{ConversationId, MessageId};

/// The source of an answer's text.
pub type AnswerText = Arc<dyn Fn() -> String + Send + Sync>;

/// The button that regenerates the answer with another model.
pub fn regenerate_with(conversation_id: ConversationId, id: MessageId, busy: Memo<bool>) -> AnyView {
    let run_intents = use_run_intents();
    let is_open = RwSignal::new(false);
    let anchor = NodeRef::<html::Button>::new();
    let on_choose =
        Callback::new(move |model: String| run_intents.regenerate_with(conversation_id, id, Some(model)));
    view! {
        <button
            node_ref=anchor
            type="button"
            class="icon-button icon-narrow needs-script"
            aria-label=texts::REGENERATE_WITH
            title=texts::REGENERATE_WITH
            aria-haspopup="dialog"
            aria-disabled=move || busy.get().then_some("true")
            on:click=move |_| is_open.set(!busy.get_untracked())
        >
            {icons::chevron()}
        </button>
        <ModelDialog is_open anchor on_choose/>
    }
    .erase()
}

/// The button that opens the menu. While the answer is being written, it has less to offer.
pub fn menu_button(
    conversation_id: ConversationId,
    id: MessageId,
    text: AnswerText,
    is_ended: bool,
) -> AnyView {
    let menu = Menu::new(["menu-", &id.to_string()].concat());
    let content = move || {
        let text = text.clone();
        lazy_part(move || items((conversation_id, id), is_ended, text.clone(), menu))
    };
    view! {
        {menu.icon_button(texts::MORE, icons::dots())}
        {menu.view(|| texts::MORE.into(), content)}
    }
    .erase()
}

#[wasm_split(agent, wasm_split_path = leptos::wasm_split, fallible)]
pub fn items(
    (conversation_id, id): (ConversationId, MessageId),
    is_ended: bool,
    text: AnswerText,
    menu: Menu,
) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || {
        let text = text.clone();
        view! { <Items conversation_id id is_ended text menu/> }.erase()
    }))
}

#[component]
fn Items(
    conversation_id: ConversationId,
    id: MessageId,
    is_ended: bool,
    text: AnswerText,
    menu: Menu,
) -> impl IntoView {
    let (conversations, toasts) = (use_conversations(), use_toasts());
    let diagnostics = diagnostics::use_dialog();
    let done = move |is_done: bool| announce_copy(toasts, is_done);
    let source = text.clone();
    let item = move |name: &'static str, icon: AnyView, press: Box<dyn Fn()>| {
        menu.item(ItemKind::Action(icon), name, press)
    };
    let view = conversations.view(conversation_id);
    let is_busy = untrack(|| view.is_busy());
    let mut items = vec![
        item(
            texts::COPY_MARKDOWN,
            icons::code(),
            Box::new(move || browser::copy_text(source(), done)),
        ),
        item(
            texts::COPY_TEXT,
            icons::copy(),
            Box::new(move || copy_without_markup(text(), done)),
        ),
    ];
    if is_ended {
        items.push(item(
            texts::BRANCH_TITLE,
            icons::branch(),
            Box::new(move || conversations.branch(id, None)),
        ));
    }
    // Of code in messages that are not loaded, the page does not know.
    if is_ended && conversations.has_code(conversation_id) {
        let href = ["/rpc/conversations/", &conversation_id.to_string(), "/notebook"].concat();
        items.push(
            view! {
                <a class="menu-item" role="menuitem" tabindex="-1" href=href download="" on:click=move |_| menu.close()>
                    {icons::download()} {texts::DOWNLOAD_NOTEBOOK}
                </a>
            }
            .erase(),
        );
    }
    items.push(item(
        texts::DIAGNOSTICS,
        icons::pulse(),
        Box::new(move || diagnostics.open(id)),
    ));
    // While an answer is written, nothing before it can be deleted.
    if !is_busy {
        let delete = move || {
            conversations.delete_message(conversation_id, id);
            browser::focus_after_removal();
        };
        items.push(item(texts::DELETE_TITLE, icons::trash(), Box::new(delete)));
    }
    menu.items(items)
}
