//! The bar above the conversation.

use leptos::prelude::*;

use crate::ui::{
    components::icons, layout::notify_switch::NotifySwitch, layout::theme::ThemeSwitch,
    runtime::erase::Erase, state::ConnectionStatus, state::ConversationPhase, state::route::Route,
    state::use_connection, state::use_conversations, state::use_navigation,
};

/// The title of the route, and the connection status.
#[component]
pub fn Header(title: Memo<String>) -> impl IntoView {
    let (conversations, navigation) = (use_conversations(), use_navigation());
    // Screen reader users who jump from heading to heading find text here even while nothing is loaded.
    let heading = move || match conversations.current_view().map(|view| view.phase.get()) {
        _ if matches!(navigation.page_route().get(), Route::Page(_)) => title.get(),
        None if navigation.chat_route().get() == Route::New => "New chat".into(),
        Some(ConversationPhase::Loading) => "Loading…".into(),
        None if navigation.chat_route().get() == Route::Settings => "Settings".into(),
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
            <ConnectionIndicator/>
            <NotifySwitch/>
            <ThemeSwitch/>
        </header>
    }
}

/// The connection status. It fades in only when the connection stays away for a moment, and disappears by itself.
#[component]
fn ConnectionIndicator() -> impl IntoView {
    let connection = use_connection();
    let text = move || match connection.status() {
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
