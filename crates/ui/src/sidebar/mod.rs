//! The list of conversations and projects: next to the conversation if there is room, otherwise a drawer. The drawer is the
//! platform's own popover, so that it opens and closes without scripts too.

pub mod deletion;
mod drag;
mod groups;
mod item;
mod links;
mod list_head;
mod list_keys;
pub mod list_view;
mod person;
mod project_item;
mod rename;
mod row_menu;
mod texts;

use leptos::{ev, html, prelude::*};

use self::{
    drag::Dragging,
    groups::{ListGroup, RowGroup, group_rows, rows_of_group},
    item::ConversationItem,
    list_head::list_head,
    list_keys::TabStop,
    list_view::use_list_view,
    project_item::{ProjectMenu, project_list, shared_project_list},
    rename::Renaming,
    row_menu::RowMenu,
};
use super::{
    browser,
    panel::use_panel,
    state::{ListError, ListRow, use_listed_pages, use_navigation, use_unseen_reports},
};
use crate::{
    commands::{CommandDialog, Shortcut, keys, use_commands},
    components::icons,
    runtime::{
        clock::use_clock, each::Each, effect::effect, erase::Erase, signal::after_hydration, when::When,
    },
    sidebar::deletion::Deletion,
    state::{
        page_registry::{PageEntry, use_page_registry},
        route::Route,
    },
};
use parlor_protocol::report::REPORTS_PAGE;

/// The media query for windows in which the list is next to the conversation, not a drawer.
pub const WIDE_QUERY: &str = "(width >= 48rem)";

/// The logo, *New chat*, and the conversations by day.
#[component]
pub fn Sidebar() -> impl IntoView {
    let (navigation, panel) = (use_navigation(), use_panel());
    let nav = NodeRef::<html::Nav>::new();
    let close = move || {
        if let Some(nav) = nav.get_untracked() {
            browser::close_popover(&nav);
        }
    };
    effect(move || {
        navigation.chat_route().track();
        close();
    });
    // A drawer that is open when the window becomes wide would cover the page.
    effect(move || browser::on_media_change(WIDE_QUERY, close));
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
            aria-label=texts::CONVERSATIONS
            inert=move || panel.is_covering_page()
            on:click=pressed
        >
            <div class="sidebar-head">
                <a class="brand" href="/">
                    {icons::brand()} {texts::PARLOR}
                </a>
                <button
                    type="button"
                    class="icon-button only-narrow"
                    aria-label=texts::CLOSE_LIST
                    popovertarget="sidebar"
                    popovertargetaction="hide"
                >
                    {icons::close()}
                </button>
            </div>
            <a
                class="nav-row"
                href="/"
                title=move || Shortcut::NewChat.labels().concat()
                aria-current=move || (navigation.page_route().get() == Route::New).then_some("page")
                aria-keyshortcuts=Shortcut::NewChat.aria()
                on:click=move |_| focus_composer()
            >
                {icons::plus()} {texts::NEW_CHAT}
            </a>
            <button
                type="button"
                class="nav-row needs-script"
                aria-keyshortcuts=Shortcut::Search.aria()
                aria-haspopup="dialog"
                on:click=move |_| {
                    // The drawer gives the focus back to its button before the dialog remembers it.
                    close();
                    use_commands().open(CommandDialog::Search);
                }
            >
                {icons::search()} {texts::SEARCH} {search_keys()}
            </button>
            {page_links()}
            <GroupedList/>
            {person::foot()}
            // Inside the drawer, so that the drawer stays open below it.
            {expect_context::<Deletion>().dialog()}
        </nav>
    }
}

/// The keys of the search. They are known in the browser.
fn search_keys() -> AnyView {
    let is_hydrated = after_hydration();
    (move || is_hydrated.get().then(|| keys(Shortcut::Search))).erase()
}

/// The links to the registered pages that can do something for the user.
fn page_links() -> AnyView {
    let (page_route, listed) = (use_navigation().page_route(), use_listed_pages());
    let pages = use_page_registry().pages;
    // Of a page without a link, that of its parent is marked.
    let current = Memo::new(move |_| match page_route.get() {
        Route::Page(info) => pages
            .iter()
            .find(|page| page.info == info)
            .map(|page| page.parent.unwrap_or(info)),
        _ => None,
    });
    let link = move |page: &'static PageEntry| {
        view! {
            <a
                class="nav-row"
                href=page.info.path
                aria-current=move || (current.get() == Some(page.info)).then_some("page")
            >
                {(page.icon)()} {page.info.title} {(page.info == &REPORTS_PAGE).then(unseen_reports)}
            </a>
        }
    };
    let shown = Memo::new(move |_| {
        let shown = pages
            .iter()
            .filter(|page| page.parent.is_none() && listed.has(page.info));
        shown.map(|page| page.info.name).collect::<Vec<_>>()
    });
    let links = move || {
        shown.with(|shown| {
            let shown = pages.iter().filter(|page| shown.contains(&page.info.name));
            shown.map(link).collect::<Vec<_>>()
        })
    };
    links.erase()
}

/// The dot beside the link to the reports, if some were not seen yet.
fn unseen_reports() -> AnyView {
    let reports = use_unseen_reports();
    let count = Memo::new(move |_| reports.count());
    let dot = move || {
        let count = count.get();
        (count > 0).then(|| {
            view! {
                <span class="item-dot item-news"><span class="visually-hidden">{texts::new_reports(count)}</span></span>
            }
            .erase()
        })
    };
    dot.erase()
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
    let (view, clock) = (use_list_view(), use_clock());
    let list = move || view.list();
    let (renaming, menu) = (Renaming::new(), RowMenu::new());
    provide_context(renaming);
    provide_context(menu);
    let stop = TabStop::provide();
    let frame = NodeRef::<html::Div>::new();
    let dragging = Dragging::new(view);
    provide_context(dragging);
    let project_menu = ProjectMenu::new();
    let groups = Memo::new(move |_| {
        let (projects, has_shared) = (view.project_ids(), !view.shared_project_ids().is_empty());
        list().with_rows(|rows| group_rows(rows, &projects, has_shared, clock.get()))
    });
    let labels = move || groups.with(|groups| groups.iter().map(|group| group.group).collect::<Vec<_>>());
    view! {
        {list_head()}
        <div
            node_ref=frame
            class="list"
            on:keydown=move |event| stop.on_key(&event, frame)
        >
            <Each of=labels key=|group| *group let:group>
                {match group {
                    ListGroup::Projects => view! {
                        <section class="list-group">
                            <h3>{group.label()}</h3>
                            {project_list(groups, project_menu)}
                        </section>
                    }.erase(),
                    ListGroup::SharedProjects => view! {
                        <section class="list-group">
                            <h3>{group.label()}</h3>
                            {shared_project_list()}
                        </section>
                    }.erase(),
                    _ => row_group(group, groups, dragging),
                }}
            </Each>
            {move || list().error().map(list_error_notice)}
            <When when=move || list().has_more()>
                <OlderConversations/>
            </When>
            <When when=move || list().with_rows(<[ListRow]>::is_empty) && !list().has_more()>
                <p class="list-empty">
                    {move || if view.is_archive() { texts::NOTHING_ARCHIVED } else { texts::EMPTY }}
                </p>
            </When>
            {menu.view(renaming)}
            {project_menu.view()}
        </div>
    }
}

/// The pinned conversations, or those of a day. What is dropped on a day is in no project.
fn row_group(group: ListGroup, groups: Memo<Vec<RowGroup>>, dragging: Dragging) -> AnyView {
    let is_day = matches!(group, ListGroup::Day(_));
    view! {
        <section
            class="list-group"
            class:is-drop-target=move || is_day && dragging.is_over(None)
            on:dragover=move |event| if is_day { dragging.enter(&event, None) }
            on:drop=move |event| if is_day { dragging.drop_on(&event, None) }
        >
            <h3>{group.label()}</h3>
            <ul>
                <Each of=move || groups.with(|groups| rows_of_group(groups, group)) key=|row| row.id let:row>
                    <ConversationItem row/>
                </Each>
            </ul>
        </section>
    }
    .erase()
}

/// The notice for an incomplete list. *Show older* can be pressed again; the newest page has no button of its own.
fn list_error_notice(error: ListError) -> AnyView {
    let list = untrack(|| use_list_view().list());
    let again = error.is_newest.then(|| {
        view! {
            <button type="button" class="button button-quiet" on:click=move |_| list.reload()>
                {texts::LOAD_AGAIN}
            </button>
        }
    });
    view! {
        <div class="list-trouble" role="status">
            <p>{texts::LOADING_FAILED} {error.message}</p>
            {again}
        </div>
    }
    .erase()
}

/// Loads more of the list when it is pressed or becomes visible.
#[component]
fn OlderConversations() -> impl IntoView {
    let view = use_list_view();
    let load_more = move || untrack(|| view.list()).load_more();
    let button = NodeRef::<html::Button>::new();
    let watch = StoredValue::new(None);
    effect(move || {
        if let Some(button) = button.get() {
            watch.set_value(Some(browser::on_visible(&button, load_more)));
        }
    });
    view! {
        <button
            node_ref=button
            type="button"
            class="button button-quiet needs-script"
            aria-busy=move || view.list().is_loading_more().to_string()
            on:click=move |_| load_more()
        >
            {move || if view.list().is_loading_more() { texts::LOADING_OLDER } else { texts::SHOW_OLDER }}
        </button>
    }
}
