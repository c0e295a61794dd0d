//! The bar above the conversation.

use leptos::prelude::*;

use super::{
    erase::Erase,
    icons,
    live::{Status, use_live},
    place::Place,
    theme::ThemeSwitch,
};

/// Where one is, and whether what is shown is up to date.
#[component]
pub fn Header(title: Memo<String>) -> impl IntoView {
    let live = use_live();
    let heading = move || match live.place.get() {
        Place::New => "New chat".into(),
        _ => title.get(),
    };
    view! {
        <header class="header">
            <button
                type="button"
                id="menu"
                class="icon-button only-narrow"
                aria-label="Conversations"
                popovertarget="sidebar"
            >
                {icons::menu()}
            </button>
            <h1 class="header-title">{heading}</h1>
            <ConnectionSign status=live.status/>
            <ThemeSwitch/>
        </header>
    }
}

/// Calm: it fades in only when the connection stays away for a moment, and goes by itself.
#[component]
fn ConnectionSign(status: RwSignal<Status>) -> impl IntoView {
    let text = move || match status.get() {
        Status::Lost => Some(view! { <span class="connection-lost">"Reconnecting…"</span> }.erase()),
        Status::Quiet | Status::Connected => None,
    };
    view! {
        <div class="connection" role="status">
            {text}
        </div>
    }
}
