//! The less frequent actions of an answer: a menu, and the list of models for another answer. Their code is loaded with
//! the first use.

use std::sync::Arc;

use leptos::{ev, html, prelude::*, wasm_split::wasm_split};

use crate::{
    browser,
    components::{copy::announce_copy, icons, toast::use_toasts},
    composer::ModelDialog,
    markdown::copy_without_markup,
    runtime::{
        effect::effect,
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
            aria-label="Answer with another model"
            title="Answer with another model"
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

/// The button that opens the menu.
pub fn menu_button(conversation_id: ConversationId, id: MessageId, text: AnswerText) -> AnyView {
    let is_open = RwSignal::new(false);
    let (button, menu) = (NodeRef::<html::Button>::new(), NodeRef::<html::Div>::new());
    let menu_id = ["menu-", &id.to_string()].concat();
    let toggled = move |event: ev::Event| {
        is_open.set(browser::is_toggled_open(&event));
        // Its items may still be loading.
        browser::place_opened(&event);
    };
    view! {
        <button
            node_ref=button
            type="button"
            class="icon-button needs-script"
            aria-label="More"
            title="More"
            aria-haspopup="menu"
            popovertarget=menu_id.clone()
        >
            {icons::dots()}
        </button>
        <div node_ref=menu id=menu_id class="menu" popover="auto" role="menu" aria-label="More" on:toggle=toggled>
            {move || is_open.get().then(|| {
                let text = text.clone();
                lazy_part(move || items(conversation_id, id, text.clone(), button, menu))
            })}
        </div>
    }
    .erase()
}

#[wasm_split(agent, wasm_split_path = leptos::wasm_split, fallible)]
pub fn items(
    conversation_id: ConversationId,
    id: MessageId,
    text: AnswerText,
    button: NodeRef<html::Button>,
    menu: NodeRef<html::Div>,
) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || {
        let text = text.clone();
        view! { <Items conversation_id id text button menu/> }.erase()
    }))
}

#[component]
fn Items(
    conversation_id: ConversationId,
    id: MessageId,
    text: AnswerText,
    button: NodeRef<html::Button>,
    menu: NodeRef<html::Div>,
) -> impl IntoView {
    let (conversations, toasts) = (use_conversations(), use_toasts());
    effect(move || {
        if let (Some(menu), Some(button)) = (menu.get(), button.get()) {
            browser::place_popover(&menu, &button);
            browser::move_focus(&menu, 1);
        }
    });
    let close = move || {
        if let Some(menu) = menu.get_untracked() {
            browser::close_popover(&menu);
        }
        if let Some(button) = button.get_untracked() {
            browser::focus(&button);
        }
    };
    let on_key = move |event: ev::KeyboardEvent| {
        let Some(menu) = menu.get_untracked() else { return };
        match event.key().as_str() {
            "ArrowDown" => browser::move_focus(&menu, 1),
            "ArrowUp" => browser::move_focus(&menu, -1),
            "Tab" => return close(),
            _ => return,
        }
        event.prevent_default();
    };
    let done = move |is_done: bool| announce_copy(toasts, is_done);
    let source = text.clone();
    let item = move |name: &'static str, icon: AnyView, press: Box<dyn Fn()>| {
        let press = move |_| {
            close();
            press();
        };
        view! {
            <button type="button" class="menu-item" role="menuitem" tabindex="-1" on:click=press>
                {icon} {name}
            </button>
        }
        .erase()
    };
    let view = conversations.view(conversation_id);
    let is_busy = untrack(|| view.is_busy());
    let mut items = vec![
        item(
            "Copy as Markdown",
            icons::code(),
            Box::new(move || browser::copy_text(source(), done)),
        ),
        item(
            "Copy as text",
            icons::copy(),
            Box::new(move || copy_without_markup(text(), done)),
        ),
        item(
            "Branch into a new conversation",
            icons::branch(),
            Box::new(move || conversations.branch(id, None)),
        ),
    ];
    // Of code in messages that are not loaded, the page does not know.
    if conversations.has_code(conversation_id) {
        let href = ["/rpc/conversations/", &conversation_id.to_string(), "/notebook"].concat();
        items.push(
            view! {
                <a class="menu-item" role="menuitem" tabindex="-1" href=href download="" on:click=move |_| close()>
                    {icons::download()} "Download conversation as notebook"
                </a>
            }
            .erase(),
        );
    }
    // While the next answer is written, nothing before it can be deleted.
    if !is_busy {
        let delete = move || {
            conversations.delete_message(conversation_id, id);
            browser::focus_after_removal();
        };
        items.push(item(
            "Delete, with all that follows",
            icons::trash(),
            Box::new(delete),
        ));
    }
    view! { <div class="menu-items" on:keydown=on_key>{items}</div> }
}
