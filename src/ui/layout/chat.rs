//! The layout: the sidebar, the conversation, and the parts that exist once per page.

use leptos::{ev, leptos_dom::helpers::window_event_listener, prelude::*};

use crate::ui::{
    browser, components::not_found::not_found_notice, components::toast::ToastArea, composer::Composer,
    diagnostics, diagnostics::DiagnosticsDialog, layout::header::Header, layout::welcome::Welcome,
    markdown::MarkdownLoader, pages::PAGES, panel::Panel, panel::PanelFrame, panel::use_panel,
    runtime::erase::Erase, runtime::when::When, settings::SettingsSnapshot, settings::settings_page,
    sidebar::Sidebar, sidebar::deletion::Deletion, state::ListRow, state::Live, state::Navigation,
    state::models::Models, state::page_registry::PageRegistry, state::page_registry::use_page_registry,
    state::route::Route, state::snapshot::PageCodec, state::snapshot::PageSnapshot, transcript::Conversation,
    tray::Tray, tray::tray, tray::use_tray,
};

/// The whole page. The server waits for the page's snapshots and renders them; the browser finds them in the page.
#[component]
pub fn Chat() -> impl IntoView {
    let navigation = create_navigation(browser::current_address());
    let address = navigation.address;
    Effect::new(move |_| browser::on_navigate(move |to| address.set(to)));
    let snapshots = OnceResource::<_, PageCodec>::new_with_options(
        PageSnapshot::load(address.get_untracked(), PAGES),
        true,
    );
    view! {
        <Suspense>
            {move || Suspend::new(async move {
                let snapshots = snapshots.await;
                // The client may have disconnected meanwhile, and the signals with it.
                match navigation.page_route.try_get_untracked() {
                    Some(_) => render_snapshot(snapshots, navigation),
                    None => ().into_any(),
                }
            })}
        </Suspense>
    }
    .erase()
}

/// Creates the navigation, which lives as long as the page.
pub(in crate::ui) fn create_navigation(address: String) -> Navigation {
    let address = RwSignal::new(address);
    let page_route = Memo::new(move |_| address.with(|address| Route::parse(address, PAGES)));
    let tray = Tray::new();
    let chat_route = Memo::new(move |_| tray.chat_route(page_route.get()));
    let navigate = Callback::new(move |(route, replace): (Route, bool)| {
        if page_route.get_untracked().has_tray() {
            return tray.show(route);
        }
        let to = route.path();
        browser::set_address(&to, replace);
        address.set(to);
    });
    provide_context(tray);
    provide_context(MarkdownLoader::start());
    Navigation {
        address,
        page_route,
        chat_route,
        navigate,
    }
}

/// Renders the page from its snapshots.
pub(in crate::ui) fn render_snapshot(page: PageSnapshot, navigation: Navigation) -> AnyView {
    let models = Models::new(&page);
    let form = page.form;
    let chat_route = navigation.chat_route;
    provide_context(SettingsSnapshot(page.personal.clone()));
    let live = Live::new(page, navigation);
    provide_context(live);
    provide_context(form);
    provide_context(live.toasts);
    provide_context(models);
    provide_context(Deletion::new(live));
    provide_context(Panel::new(live));
    provide_context(PageRegistry::new(PAGES));
    provide_context(DiagnosticsDialog::new(live));
    Effect::new(move |_| {
        live.start();
        models.start();
        use_tray().restore();
        browser::set_started();
    });
    Effect::new(move |before: Option<Route>| {
        let here = chat_route.get();
        live.load_route(here);
        if let Some(left) = before {
            live.trim_after_leaving(left);
        }
        here
    });
    Effect::new(move |before: Option<(Route, String)>| {
        let here = (live.page_route.get(), live.address.get());
        if let Some((page, address)) = before
            && page != here.0
        {
            live.previous_address.set(address);
        }
        here
    });
    Effect::new(move |_| live.mark_seen());
    Effect::new(move |_| register_shortcuts(live));
    view! { <Layout live/> }.erase()
}

/// Registers the shortcut for a new chat. The shortcuts of one feature are registered by its views.
fn register_shortcuts(live: Live) {
    let handle = window_event_listener(ev::keydown, move |event| {
        let chord = (event.ctrl_key() || event.meta_key()) && event.shift_key();
        if chord && event.code() == "KeyO" {
            event.prevent_default();
            live.go_to(Route::New);
            browser::focus_selector("#message");
        }
    });
    on_cleanup(move || handle.remove());
}

#[component]
fn Layout(live: Live) -> impl IntoView {
    let panel = use_panel();
    let on_page = Memo::new(move |_| live.page_route.get().has_tray());
    let title = Memo::new(move |_| match (live.page_route.get(), live.current_view()) {
        (Route::Page(page), _) => page.title.into(),
        (_, Some(view)) => view.title.get(),
        (_, None) => String::new(),
    });
    let active_count = Memo::new(move |_| {
        let is_active = |row: &&ListRow| row.is_running.get() || row.has_news(live);
        live.list.with(|rows| rows.iter().filter(is_active).count())
    });
    // The server reads this after rendering: the client may have disconnected by then, and all signals with it.
    let page_title = move || {
        let name = match live.page_route.try_get() {
            Some(Route::Settings) => "Settings".into(),
            Some(Route::Nowhere) => "Not found".into(),
            _ => title.try_get().unwrap_or_default(),
        };
        page_title(active_count.try_get().unwrap_or_default(), &name)
    };
    browser::set_title(page_title);
    let main = move || match live.page_route.get() {
        Route::Page(page) => ["#", page.name].concat(),
        Route::Settings => "#settings".into(),
        _ => "#message".into(),
    };
    view! {
        <div class="app">
            <a class="skip-link" href=main on:click=move |event| skip_to(event, &main())>
                {move || if main() == "#message" { "Skip to the message box" } else { "Skip to the page" }}
            </a>
            <Sidebar/>
            <div class="stage" inert=move || panel.is_covering_page() || (on_page.get() && use_tray().is_covering_page())>
                <Header title/>
                <main class="scene">{move || route_view(live, live.page_route.get())}</main>
                <When when=move || !on_page.get()>
                    <Composer/>
                </When>
            </div>
            <When when=move || on_page.get()>{tray(live)}</When>
            {vec![view! { <PanelFrame/> }.erase(), diagnostics::dialog()]}
            <ToastArea toasts=live.toasts/>
        </div>
    }
}

/// The title of the tab: the number of conversations with an active run or unseen results, and the current route.
fn page_title(active_count: usize, name: &str) -> String {
    let mut title = String::new();
    if active_count > 0 {
        title = ["(", &active_count.to_string(), ") "].concat();
    }
    title.push_str(name);
    if !name.is_empty() {
        title.push_str(" · ");
    }
    title.push_str("Parlor");
    title
}

/// Moves the focus only: the address stays as it is.
fn skip_to(event: ev::MouseEvent, to: &str) {
    event.prevent_default();
    browser::focus_selector(to);
}

/// The view of a route.
fn route_view(live: Live, route: Route) -> AnyView {
    match route {
        Route::New => view! { <Welcome/> }.erase(),
        Route::Conversation(id) => view! { <Conversation view=live.view(id)/> }.erase(),
        Route::Page(page) => {
            let entry = use_page_registry().page(page);
            entry.map_or_else(not_found, |entry| (entry.view)(live))
        }
        Route::Settings => settings_page(live),
        Route::Nowhere => not_found(),
    }
}

fn not_found() -> AnyView {
    browser::set_not_found();
    not_found_notice("There is nothing at this address.")
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
    }
}
