//! The link to older messages, above the first loaded one.

use leptos::prelude::*;

use super::texts;
use crate::{
    browser,
    runtime::{erase::Erase, shared_view::use_shared_view},
    state::{ConversationView, OlderState, route::Route, use_conversations},
};

/// A link that loads the previous page; without scripts, it leads to a page that has both. In the chat, scrolling up loads it too.
#[component]
pub fn OlderMessages(view: ConversationView) -> impl IntoView {
    let (conversations, share) = (use_conversations(), use_shared_view());
    let ConversationView {
        id, earliest, older, ..
    } = view;
    move || {
        let before = earliest.get()?;
        let (label, error) = (older.clone(), older.clone());
        let label = move || match label.get() {
            OlderState::Idle => texts::SHOW_OLDER,
            OlderState::Loading => texts::LOADING_OLDER,
            OlderState::Failed(_) => texts::TRY_AGAIN,
        };
        let error = move || match error.get() {
            OlderState::Failed(reason) => texts::older_failed(&reason),
            _ => String::new(),
        };
        let press = move |event: leptos::ev::MouseEvent| {
            if !browser::is_plain_click(&event) {
                return;
            }
            event.prevent_default();
            // The link is removed with the last page.
            browser::focus_selector(".transcript");
            conversations.load_older(id);
        };
        if let Some(share) = &share {
            let href = share.older_messages(before);
            let link = view! { <a class="button button-quiet" href=href>{texts::SHOW_OLDER}</a> };
            return Some(view! { <div class="older">{link}</div> }.erase());
        }
        let before = before.to_string();
        let href = [&Route::Conversation(id).path(), "?before=", &before, "#", &before].concat();
        Some(
            view! {
                <div class="older">
                    <span role="alert">{error}</span>
                    <a class="button button-quiet" href=href on:click=press>{label}</a>
                </div>
            }
            .erase(),
        )
    }
}
