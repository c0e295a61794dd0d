//! The bar above the conversation.

use leptos::prelude::*;
use parlor_protocol::ListChange;

use super::texts;
use crate::{
    browser,
    commands::{Command, use_commands},
    components::{icon_button::IconButton, icons},
    projects::project_sign,
    runtime::{effect::effect, erase::Erase},
    sharing::header_button,
    sidebar::WIDE_QUERY,
    state::{
        ConnectionStatus, ConversationListStore, ConversationPhase, route::Route, use_archive,
        use_connection, use_conversation_list, use_conversations, use_navigation, use_next_message,
        use_projects,
    },
};

/// The title of the route, and the connection status.
#[component]
pub fn Header(title: Memo<String>) -> impl IntoView {
    let (conversations, navigation) = (use_conversations(), use_navigation());
    // Screen reader users who jump from heading to heading find text here even while nothing is loaded.
    let heading = move || match conversations.current_view().map(|view| view.phase.get()) {
        _ if matches!(
            navigation.page_route().get(),
            Route::Page(_) | Route::Project(_) | Route::SharedProject(_)
        ) =>
        {
            title.get()
        }
        None if navigation.chat_route().get() == Route::New => texts::NEW_CHAT.into(),
        Some(ConversationPhase::Loading) => texts::LOADING.into(),
        None if matches!(navigation.chat_route().get(), Route::Settings(_)) => texts::SETTINGS.into(),
        None | Some(ConversationPhase::Missing) => texts::NOT_FOUND.into(),
        Some(ConversationPhase::Ready | ConversationPhase::Failed(_)) => match title.get() {
            title if title.is_empty() => texts::CONVERSATION.into(),
            title => title,
        },
    };
    view! {
        <header class="header">
            <button
                type="button"
                id="menu"
                class="icon-button only-narrow"
                aria-label=texts::CONVERSATIONS
                popovertarget="sidebar"
            >
                {icons::menu()}
            </button>
            {sidebar_switch()}
            {project_link()}
            <h1 class="header-title" dir="auto">{heading}</h1>
            <ConnectionIndicator/>
            {temporary_switch()}
            {move || {
                let Route::Conversation(id) = navigation.page_route().get() else {
                    return None;
                };
                let view = conversations.view(id);
                let is_here = view.phase.with(|phase| *phase == ConversationPhase::Ready);
                is_here.then(|| header_button(id))
            }}
            <a class="icon-button only-narrow" href=Route::New.path() aria-label=texts::NEW_CHAT title=texts::NEW_CHAT>
                {icons::plus()}
            </a>
        </header>
    }
}

/// The project of the conversation on the screen.
fn project_link() -> AnyView {
    let (navigation, projects) = (use_navigation(), use_projects());
    let lists = [use_conversation_list(), use_archive()];
    let project = Memo::new(move |_| {
        let shown = navigation.page_route().get().conversation_id()?;
        let of_row = |list: &ConversationListStore| {
            list.with_rows(|rows| {
                let row = rows.iter().find(|row| row.id == shown)?;
                row.project_id.get()
            })
        };
        projects.get(lists.iter().find_map(of_row)?)
    });
    let link = move || {
        let listed = project.get()?;
        let view = view! {
            <a class="header-project" href=Route::Project(listed.id).path() title=texts::PROJECT>
                {project_sign(listed.project.colour)} <span dir="auto">{listed.project.name}</span>
            </a>
        };
        Some(view.erase())
    };
    link.erase()
}

/// On a new chat, the switch that makes it temporary; in a temporary one, the button that keeps it.
fn temporary_switch() -> AnyView {
    let (navigation, list, next) = (use_navigation(), use_conversation_list(), use_next_message());
    let is_new = Memo::new(move |_| navigation.page_route().get() == Route::New);
    let temporary = Memo::new(move |_| {
        let shown = navigation.page_route().get().conversation_id();
        list.with_rows(|rows| {
            let row = rows
                .iter()
                .find(|row| Some(row.id) == shown && row.is_temporary.get());
            row.map(|row| row.id)
        })
    });
    use_commands().add(
        Command::new(texts::TEMPORARY, icons::dashed, move || next.toggle_temporary())
            .words("private incognito chat")
            .possible_while(move || is_new.get()),
    );
    let button = move || match (is_new.get(), temporary.get()) {
        (true, _) => Some(
            IconButton::new(texts::TEMPORARY, icons::dashed(), move || next.toggle_temporary())
                .title(texts::TEMPORARY_ABOUT)
                .pressed_while(move || next.is_temporary())
                .view(),
        ),
        (false, Some(id)) => Some(
            view! {
                <button
                    type="button"
                    class="button button-quiet header-temporary needs-script"
                    title=texts::TEMPORARY_ABOUT
                    on:click=move |_| list.change(vec![id], ListChange::Keep)
                >
                    {icons::dashed()} {texts::KEEP}
                </button>
            }
            .erase(),
        ),
        (false, None) => None,
    };
    button.erase()
}

/// The storage key of the hidden sidebar. A script in the page's head applies it before the first paint.
const SIDEBAR_KEY: &str = "parlor-sidebar";

/// The button that hides the list next to the conversation, or shows it again. This browser remembers it.
fn sidebar_switch() -> AnyView {
    let is_hidden = RwSignal::new(false);
    effect(move || is_hidden.set(browser::storage_get(SIDEBAR_KEY).is_some()));
    let label = move || {
        if is_hidden.get() {
            texts::SHOW_LIST
        } else {
            texts::HIDE_LIST
        }
    };
    let turn = move || {
        is_hidden.update(|is_hidden| *is_hidden = !*is_hidden);
        let stored = is_hidden.get_untracked().then_some("hidden");
        browser::storage_set(SIDEBAR_KEY, stored);
        browser::set_root_attribute("data-sidebar", stored);
    };
    use_commands().add(
        Command::new(texts::SHOW_OR_HIDE_LIST, icons::sidebar, turn)
            .words("sidebar toggle conversations")
            .possible_while(|| browser::matches_media(WIDE_QUERY)),
    );
    view! {
        <button
            type="button"
            class="icon-button only-wide needs-script"
            aria-label=label
            title=label
            aria-controls="sidebar"
            on:click=move |_| turn()
        >
            {icons::sidebar()}
        </button>
    }
    .erase()
}

/// The connection status. It fades in only when the connection stays away for a moment, and disappears by itself.
#[component]
pub fn ConnectionIndicator() -> impl IntoView {
    let connection = use_connection();
    let text = move || match connection.status() {
        ConnectionStatus::Disconnected => Some(texts::RECONNECTING),
        ConnectionStatus::LogDamaged => Some(texts::NO_LIVE_UPDATES),
        ConnectionStatus::Idle | ConnectionStatus::Connected => None,
    };
    view! {
        <div class="connection" role="status">
            {move || text().map(|text| view! { <span class="connection-lost">{text}</span> }.erase())}
        </div>
    }
}
