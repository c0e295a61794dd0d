//! The web search toggle.

use leptos::prelude::*;

use crate::ui::{components::icons, runtime::when::When, state::models::Models, state::use_live};

/// Turns on the web search for the next message, if a search is available.
#[component]
pub fn SearchToggle() -> impl IntoView {
    let live = use_live();
    let models = expect_context::<Models>();
    view! {
        <When when=move || models.list.with(|list| list.can_search)>
            <button
                type="button"
                class="icon-button needs-script"
                aria-label="Search the web for the next message"
                title="Search the web for the next message"
                aria-pressed=move || live.next_message.is_search_on(live.chat_route.get()).to_string()
                on:click=move |_| live.next_message.toggle_search(live.chat_route.get_untracked())
            >
                {icons::globe()}
            </button>
        </When>
    }
}
