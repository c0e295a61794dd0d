//! The way to older messages, above the first that is here.

use leptos::prelude::*;

use crate::ui::{
    browser,
    erase::Erase,
    live::{ConversationView, Older, use_live},
    place::Place,
    transcript::answer::Dots,
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
        let (words, troubled) = (older.clone(), older.clone());
        let words = move || match words.get() {
            Older::Idle => view! { "Show older messages" }.into_any(),
            Older::Loading => view! { <Dots/> "Loading older messages…" }.erase(),
            Older::Failed(_) => view! { "Try again" }.into_any(),
        };
        let trouble = move || match troubled.get() {
            Older::Failed(why) => {
                Some(view! { <span role="alert">"Older messages could not be loaded. " {why}</span> })
            }
            _ => None,
        };
        let press = move |event: leptos::ev::MouseEvent| {
            event.prevent_default();
            // The link goes away with the last page.
            browser::focus_selector(".transcript");
            live.load_older(id);
        };
        let before = before.to_string();
        let href = [&Place::Conversation(id).path(), "?before=", &before, "#", &before].concat();
        Some(
            view! {
                <div class="older">
                    {trouble}
                    <a class="button button-quiet" href=href rel="external" on:click=press>{words}</a>
                </div>
            }
            .erase(),
        )
    }
}
