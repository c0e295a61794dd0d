//! The layout: the sidebar, the conversation, and the parts that exist once per page.

use leptos::{ev, prelude::*};

use super::texts;
use crate::{
    browser,
    commands::{Commands, use_commands},
    components::{
        link::PageLinks,
        not_found::not_found_notice,
        toast::{ToastArea, use_toasts},
    },
    composer::Composer,
    diagnostics::{self, DiagnosticsDialog},
    home::{PageNews, Welcome, welcome_cards},
    layout::header::Header,
    markdown::MarkdownLoader,
    pages::pages,
    palette,
    panel::{Panel, PanelFrame, use_panel},
    preferences::Preferences,
    projects::{self, ProjectDialogs, project_below, project_head, shared_project},
    runtime::{bidi::isolated, effect::effect, erase::Erase, when::When},
    settings::{SettingsSnapshot, settings_page},
    sharing::{self, ShareDialog},
    sidebar::{Sidebar, deletion::Deletion, list_view::ListView},
    state::{
        ConversationPhase, ListRow, Navigation, Stores,
        page_registry::{PageRegistry, use_page_registry},
        person::{PagePerson, use_person},
        route::Route,
        settings_tab::SettingsTab,
        snapshot::{OpenedPage, OpenedSharedProject, PageCodec, PageSnapshot},
        tray::{Tray, use_tray},
        use_archive, use_conversation_list, use_conversations, use_navigation, use_projects,
        use_unseen_reports,
    },
    transcript::conversation,
    tray::tray,
};

/// The whole page. The server waits for the page's snapshots and renders them; the browser finds them in the page.
#[component]
pub fn Chat() -> impl IntoView {
    let navigation = create_navigation(browser::current_url());
    effect(move || browser::on_navigate(move |to| navigation.follow_browser(to)));
    let url = untrack(|| navigation.with_url(String::clone));
    let load = browser::load_for_page(PageSnapshot::load(url, pages(), use_person()));
    let snapshots = OnceResource::<_, PageCodec>::new_with_options(load, true);
    view! {
        <Suspense>
            {move || Suspend::new(async move {
                let snapshots = snapshots.await;
                // The client may have disconnected meanwhile, and the signals with it.
                match navigation.page_route().try_get_untracked() {
                    Some(_) => render_snapshot(snapshots, navigation),
                    None => ().into_any(),
                }
            })}
        </Suspense>
    }
    .erase()
}

/// Creates the navigation, which lives as long as the page.
pub(crate) fn create_navigation(url: String) -> Navigation {
    let tray = Tray::new();
    provide_context(tray);
    provide_context(MarkdownLoader::start());
    Navigation::new(url, pages(), tray)
}

/// Creates the stores of a page from its snapshots, and provides everything that its views need.
pub(crate) fn provide_stores(page: PageSnapshot, navigation: Navigation) -> Stores {
    provide_context(page.form);
    provide_context(SettingsSnapshot(page.personal.clone()));
    provide_context(PagePerson(page.person.clone()));
    provide_context(OpenedPage(page.opened.clone()));
    provide_context(OpenedSharedProject(StoredValue::new(page.shared_project.clone())));
    let page_news = page.news.clone();
    let stores = Stores::new(page, navigation);
    stores.provide();
    Commands::provide(false);
    Preferences::provide(false);
    provide_context(PageNews::new(page_news));
    provide_context(ProjectDialogs::new());
    provide_context(ListView::new());
    provide_context(Deletion::new());
    provide_context(Panel::new());
    provide_context(PageRegistry::new(pages()));
    provide_context(DiagnosticsDialog::new());
    provide_context(ShareDialog::new());
    stores
}

/// Renders the page from its snapshots.
pub(crate) fn render_snapshot(page: PageSnapshot, navigation: Navigation) -> AnyView {
    let stores = provide_stores(page, navigation);
    provide_context(PageLinks {
        is_page: Callback::new(move |url: String| navigation.is_page_url(&url)),
        open: Callback::new(move |url| {
            navigation.open_page(url);
        }),
    });
    let (list, archive, conversations) = (use_conversation_list(), use_archive(), use_conversations());
    effect(move || {
        stores.start();
        use_tray().restore(pages());
        browser::set_started();
    });
    Effect::new(move |before: Option<Route>| {
        let here = navigation.chat_route().get();
        conversations.load_route(here);
        if let Some(left) = before {
            conversations.trim_after_leaving(left);
        }
        here
    });
    navigation.start();
    effect(move || list.mark_seen());
    effect(move || archive.mark_seen());
    effect(|| {
        use_commands().listen();
        palette::load_when_idle();
    });
    view! { <Layout/> }.erase()
}

#[component]
fn Layout() -> impl IntoView {
    let panel = use_panel();
    let (list, conversations, projects) = (use_conversation_list(), use_conversations(), use_projects());
    let page_route = use_navigation().page_route();
    let on_page = Memo::new(move |_| page_route.get().has_tray());
    let title = Memo::new(move |_| match (page_route.get(), conversations.current_view()) {
        (Route::Page(page), _) => page.title.into(),
        (Route::Project(id), _) => match projects.get(id) {
            Some(listed) => listed.project.name,
            None => texts::NOT_FOUND.into(),
        },
        (Route::SharedProject(id), _) => match projects.get_shared(id) {
            Some(shared) => shared.name,
            None => texts::NOT_FOUND.into(),
        },
        (_, Some(view)) if view.phase.with(|phase| *phase == ConversationPhase::Missing) => {
            texts::NOT_FOUND.into()
        }
        (_, Some(view)) => view.title.get(),
        (_, None) => String::new(),
    });
    let reports = use_unseen_reports();
    let active_count = Memo::new(move |_| {
        let is_active = |row: &&ListRow| row.is_running.get() || list.has_news(row);
        list.with_rows(|rows| rows.iter().filter(is_active).count()) + reports.count_elsewhere()
    });
    // The server reads this after rendering: the client may have disconnected by then, and all signals with it.
    let page_title = move || {
        let name = match page_route.try_get() {
            Some(Route::Settings(tab)) => settings_title(tab),
            Some(Route::NotFound) => texts::NOT_FOUND.into(),
            _ => title.try_get().unwrap_or_default(),
        };
        page_title(active_count.try_get().unwrap_or_default(), &name)
    };
    browser::set_title(page_title);
    let main = move || match page_route.get() {
        Route::Page(page) => ["#", page.name].concat(),
        Route::Settings(_) => "#settings".into(),
        Route::SharedProject(_) => "#shared-project".into(),
        _ => "#message".into(),
    };
    view! {
        <div class="app">
            <a class="skip-link" href=main on:click=move |event| skip_to(event, &main())>
                {move || if main() == "#message" { texts::SKIP_TO_BOX } else { texts::SKIP_TO_PAGE }}
            </a>
            <Sidebar/>
            <div class="stage" inert=move || panel.is_covering_page() || (on_page.get() && use_tray().is_covering_page())>
                <Header title/>
                <main class="scene">{move || route_view(page_route.get())}</main>
                <When when=move || !on_page.get()>
                    <Composer/>
                </When>
                {move || match page_route.get() {
                    Route::New => Some(welcome_cards()),
                    Route::Project(id) => Some(project_below(id)),
                    _ => None,
                }}
            </div>
            <When when=move || on_page.get()>{tray()}</When>
            {vec![view! { <PanelFrame/> }.erase(), diagnostics::dialog(), sharing::dialog(), projects::dialogs(), palette::dialogs()]}
            <ToastArea toasts=use_toasts()/>
        </div>
    }
}

/// The title of the tab: the number of conversations with an active run or unseen results and of unseen reports, and the current route.
fn page_title(active_count: usize, name: &str) -> String {
    let mut title = String::new();
    if active_count > 0 {
        title = ["(", &active_count.to_string(), ") "].concat();
    }
    title.push_str(&texts::page_title(&isolated(name)));
    title
}

fn settings_title(tab: SettingsTab) -> String {
    match tab {
        SettingsTab::General => texts::SETTINGS.into(),
        tab => texts::settings_title(tab.title()),
    }
}

/// Moves the focus only: the URL stays as it is.
fn skip_to(event: ev::MouseEvent, to: &str) {
    event.prevent_default();
    browser::focus_selector(to);
}

/// The view of a route.
fn route_view(route: Route) -> AnyView {
    match route {
        Route::New => view! { <Welcome/> }.erase(),
        Route::Project(id) => project_head(id),
        Route::SharedProject(id) => shared_project(id),
        Route::Conversation(id) => conversation(use_conversations().view(id)),
        Route::Page(page) => {
            let entry = use_page_registry().page(page);
            entry.map_or_else(not_found, |entry| (entry.view)())
        }
        Route::Settings(_) => settings_page(),
        Route::NotFound => not_found(),
    }
}

fn not_found() -> AnyView {
    browser::set_not_found();
    not_found_notice(texts::NOTHING_HERE)
}

#[cfg(test)]
mod tests {
    use super::page_title;

    #[test]
    fn title_shows_active_count_and_location() {
        assert_eq!(page_title(0, ""), "Parlor");
        assert_eq!(page_title(0, "Plans"), "Plans · Parlor");
        assert_eq!(page_title(2, "Plans"), "(2) Plans · Parlor");
        assert_eq!(page_title(1, ""), "(1) Parlor");
        assert_eq!(page_title(0, "a\u{202e}b"), "\u{2068}a\u{202e}b\u{2069} · Parlor");
    }
}
