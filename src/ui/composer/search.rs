//! The web search toggle.

use leptos::prelude::*;

use crate::ui::{
    components::icons, runtime::when::When, state::use_models, state::use_navigation, state::use_next_message,
};

/// Turns on the web search for the next message, if a search is available.
#[component]
pub fn SearchToggle() -> impl IntoView {
    let (models, next_message) = (use_models(), use_next_message());
    let route = use_navigation().chat_route();
    view! {
        <When when=move || models.with_list(|list| list.can_search)>
            <button
                type="button"
                class="icon-button needs-script"
                aria-label="Search the web for the next message"
                title="Search the web for the next message"
                aria-pressed=move || next_message.is_search_on(route.get()).to_string()
                on:click=move |_| next_message.toggle_search(route.get_untracked())
            >
                {icons::globe()}
            </button>
        </When>
    }
}
