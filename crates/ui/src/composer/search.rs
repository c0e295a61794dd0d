//! The web search toggle.

use leptos::prelude::*;

use crate::{
    components::{icon_button::IconButton, icons},
    runtime::when::When,
    state::{use_models, use_navigation, use_next_message},
};

/// Turns on the web search for the next message, if a search is available.
#[component]
pub fn SearchToggle() -> impl IntoView {
    let (models, next_message) = (use_models(), use_next_message());
    let route = use_navigation().chat_route();
    view! {
        <When when=move || models.with_list(|list| list.can_search)>
            {IconButton::new("Search the web for the next message", icons::globe(), move || {
                next_message.toggle_search(route.get_untracked());
            })
            .pressed_while(move || next_message.is_search_on(route.get()))
            .view()}
        </When>
    }
}
