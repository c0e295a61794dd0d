//! The bar above the conversation.

use leptos::prelude::*;

use super::{
    erase::Erase,
    icons,
    live::{Phase, Status, use_live},
    notify::NotifySwitch,
    place::Place,
    theme::ThemeSwitch,
};

/// Where one is, and whether what is shown is up to date.
#[component]
pub fn Header(title: Memo<String>) -> impl IntoView {
    let live = use_live();
    // Who jumps from heading to heading finds words here, whatever is known yet.
    let heading = move || match live.here().map(|view| view.phase.get()) {
        _ if live.page.get() == Place::Literature => title.get(),
        None if live.place.get() == Place::New => "New chat".into(),
        Some(Phase::Loading) => "Loading…".into(),
        None if live.place.get() == Place::Settings => "Settings".into(),
        None | Some(Phase::Missing) => "Not found".into(),
        Some(Phase::Ready | Phase::Failed(_)) => match title.get() {
            title if title.is_empty() => "Conversation".into(),
            title => title,
        },
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
            <h1 class="header-title" dir="auto">{heading}</h1>
            <ConnectionSign status=live.status/>
            <NotifySwitch/>
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
