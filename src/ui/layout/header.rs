//! The bar above the conversation.

use leptos::prelude::*;

use crate::ui::{
    components::icons, layout::notify_switch::NotifySwitch, layout::theme::ThemeSwitch,
    runtime::erase::Erase, state::ConnectionStatus, state::ConversationPhase, state::route::Route,
    state::use_live,
};

/// The title of the route, and the connection status.
#[component]
pub fn Header(title: Memo<String>) -> impl IntoView {
    let live = use_live();
    // Screen reader users who jump from heading to heading find text here even while nothing is loaded.
    let heading = move || match live.current_view().map(|view| view.phase.get()) {
        _ if matches!(live.page_route.get(), Route::Page(_)) => title.get(),
        None if live.chat_route.get() == Route::New => "New chat".into(),
        Some(ConversationPhase::Loading) => "Loading…".into(),
        None if live.chat_route.get() == Route::Settings => "Settings".into(),
        None | Some(ConversationPhase::Missing) => "Not found".into(),
        Some(ConversationPhase::Ready | ConversationPhase::Failed(_)) => match title.get() {
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
            <ConnectionIndicator status=live.status/>
            <NotifySwitch/>
            <ThemeSwitch/>
        </header>
    }
}

/// The connection status. It fades in only when the connection stays away for a moment, and disappears by itself.
#[component]
fn ConnectionIndicator(status: RwSignal<ConnectionStatus>) -> impl IntoView {
    let text = move || match status.get() {
        ConnectionStatus::Disconnected => {
            Some(view! { <span class="connection-lost">"Reconnecting…"</span> }.erase())
        }
        ConnectionStatus::Idle | ConnectionStatus::Connected => None,
    };
    view! {
        <div class="connection" role="status">
            {text}
        </div>
    }
}
