//! The way to older messages, above the first that is here.

use leptos::prelude::*;

use crate::ui::{
    browser, runtime::erase::Erase, state::ConversationView, state::OlderState, state::route::Route,
    state::use_live,
};

/// A link that loads the page before; without scripts, it leads to a page that has both. Who scrolls up need not press it.
#[component]
pub fn OlderMessages(view: ConversationView) -> impl IntoView {
    let live = use_live();
    let ConversationView {
        id, earliest, older, ..
    } = view;
    move || {
        let before = earliest.get()?;
        let (words, trouble) = (older.clone(), older.clone());
        let words = move || match words.get() {
            OlderState::Idle => "Show older messages",
            OlderState::Loading => "Loading older messages…",
            OlderState::Failed(_) => "Try again",
        };
        let trouble = move || match trouble.get() {
            OlderState::Failed(why) => ["Older messages could not be loaded. ", &why].concat(),
            _ => String::new(),
        };
        let press = move |event: leptos::ev::MouseEvent| {
            if !browser::is_plain_click(&event) {
                return;
            }
            event.prevent_default();
            // The link goes away with the last page.
            browser::focus_selector(".transcript");
            live.load_older(id);
        };
        let before = before.to_string();
        let href = [&Route::Conversation(id).path(), "?before=", &before, "#", &before].concat();
        Some(
            view! {
                <div class="older">
                    <span role="alert">{trouble}</span>
                    <a class="button button-quiet" href=href on:click=press>{words}</a>
                </div>
            }
            .erase(),
        )
    }
}
