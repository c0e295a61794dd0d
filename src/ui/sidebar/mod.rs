//! The list of conversations: beside the conversation if there is room, otherwise a drawer. The drawer is the
//! platform's own popover, so that it opens and closes without scripts too.

pub mod deletion;
mod groups;
mod item;

use leptos::{ev, html, prelude::*};

pub use self::item::link_selector;
use self::{groups::group_by_day, item::ConversationItem};
use super::{browser, panel::use_panel, state::ListError, state::use_live};
use crate::ui::{
    components::icons, runtime::each::Each, runtime::erase::Erase, runtime::when::When,
    sidebar::deletion::Deletion, state::page_registry::PageEntry, state::page_registry::use_page_registry,
    state::route::Route,
};

/// The logo, *New chat*, and the conversations by day.
#[component]
pub fn Sidebar() -> impl IntoView {
    let live = use_live();
    let panel = use_panel();
    let nav = NodeRef::<html::Nav>::new();
    let close = move || {
        if let Some(nav) = nav.get_untracked() {
            browser::close_popover(&nav);
        }
    };
    Effect::new(move |_| {
        live.chat_route.track();
        close();
    });
    // A user who follows a link wants to see its target, not the drawer, also if the target is already shown.
    let pressed = move |event: ev::MouseEvent| {
        if browser::is_within(&event, "a") {
            close();
        }
    };
    view! {
        <nav
            node_ref=nav
            id="sidebar"
            class="sidebar"
            popover="auto"
            aria-label="Conversations"
            inert=move || panel.is_covering_page()
            on:click=pressed
        >
            <div class="sidebar-head">
                <a class="brand" href="/">
                    {icons::brand()} "Parlor"
                </a>
                <button
                    type="button"
                    class="icon-button only-narrow"
                    aria-label="Close the list"
                    popovertarget="sidebar"
                    popovertargetaction="hide"
                >
                    {icons::close()}
                </button>
            </div>
            <a class="button new-chat" href="/" title="Ctrl+Shift+O" on:click=move |_| focus_composer()>
                {icons::plus()} "New chat"
            </a>
            {page_links()}
            <GroupedList/>
            <a
                class="button button-quiet sidebar-foot"
                href=Route::Settings.path()
                aria-current=move || (live.chat_route.get() == Route::Settings).then_some("page")
            >
                {icons::gear()} "Settings"
            </a>
            // Inside the drawer, so that the drawer stays open below it.
            {expect_context::<Deletion>().dialog()}
        </nav>
    }
}

/// The links to the registered pages.
fn page_links() -> AnyView {
    let live = use_live();
    let link = |page: &'static PageEntry| {
        view! {
            <a
                class="button button-quiet to-page"
                href=page.info.path
                aria-current=move || (live.page_route.get() == Route::Page(page.info)).then_some("page")
            >
                {(page.icon)()} {page.info.title}
            </a>
        }
    };
    use_page_registry()
        .pages
        .iter()
        .map(link)
        .collect::<Vec<_>>()
        .erase()
}

/// Focuses the input when *New chat* is pressed on a new chat. It does not open an on-screen keyboard: that comes with
/// a tap on the box, when the drawer is closed.
fn focus_composer() {
    if browser::has_hardware_keyboard() {
        browser::focus_selector("#message");
    }
}

#[component]
fn GroupedList() -> impl IntoView {
    let live = use_live();
    let groups = Memo::new(move |_| group_by_day(&live.list.get(), live.clock.get()));
    let labels = move || groups.with(|groups| groups.iter().map(|group| group.group).collect::<Vec<_>>());
    view! {
        <div class="list">
            <Each of=labels key=|group| *group let:group>
                <section class="list-group">
                    <h2>{group.label()}</h2>
                    <ul>
                        <Each
                            of=move || groups.with(|groups| groups::rows_of_group(groups, group))
                            key=|row| row.id
                            let:row
                        >
                            <ConversationItem row/>
                        </Each>
                    </ul>
                </section>
            </Each>
            {move || live.list_error.get().map(list_error_notice)}
            <When when=move || live.has_more.get()>
                <OlderConversations/>
            </When>
            <When when=move || live.list.with(Vec::is_empty)>
                <p class="list-empty">"Your conversations will be listed here."</p>
            </When>
        </div>
    }
}

/// The notice for an incomplete list. *Show older* can be pressed again; the newest page has no button of its own.
fn list_error_notice(error: ListError) -> AnyView {
    let live = use_live();
    let again = error.is_newest.then(|| {
        view! {
            <button type="button" class="button button-quiet" on:click=move |_| live.reload_list()>
                "Load the list again"
            </button>
        }
    });
    view! {
        <div class="list-trouble" role="status">
            <p>"A part of the list could not be loaded. " {error.message}</p>
            {again}
        </div>
    }
    .erase()
}

/// Loads more of the list when it is pressed or becomes visible.
#[component]
fn OlderConversations() -> impl IntoView {
    let live = use_live();
    let button = NodeRef::<html::Button>::new();
    let watch = StoredValue::new(None);
    Effect::new(move |_| {
        if let Some(button) = button.get() {
            watch.set_value(Some(browser::on_visible(&button, move || {
                live.load_more_conversations()
            })));
        }
    });
    view! {
        <button
            node_ref=button
            type="button"
            class="button button-quiet needs-script"
            aria-busy=move || live.is_loading_more.get().to_string()
            on:click=move |_| live.load_more_conversations()
        >
            {move || if live.is_loading_more.get() { "Loading older conversations…" } else { "Show older" }}
        </button>
    }
}
