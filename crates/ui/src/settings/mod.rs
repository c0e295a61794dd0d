//! The settings page. Its code is loaded when it is first shown.
//!
//! - [`state`]: the page's data, and its updates
//! - [`tabs`]: the list of its tabs, which [`crate::state::settings_tab`] declares
//! - [`general`], [`endpoints`], [`memories`], [`files`], [`tokens`]: tabs with views; [`server_tab`]: all others, which the server makes
//! - [`instructions`], [`unavailable`]: sections of a tab

mod endpoints;
mod files;
mod general;
mod instructions;
mod memories;
mod retention;
mod server_tab;
mod state;
mod tabs;
mod texts;
mod tokens;
mod unavailable;

use std::sync::Arc;

use leptos::{html, prelude::*, wasm_split::wasm_split};

pub use self::server_tab::ServerContent;
use self::state::{SettingsPhase, SettingsState};
use crate::{
    browser,
    components::{confirm::Confirm, icons},
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_view},
        lazy_part::LazyPart,
    },
    state::{
        route::Route,
        settings_tab::{SETTINGS_PATH, SettingsTab, is_list_of_tabs},
        tray::NARROW_QUERY,
        use_lifecycle, use_navigation,
    },
};
use parlor_protocol::RawJson;

/// The page's snapshot, if this is the first page: a [`PersonalData`](parlor_protocol::PersonalData) that only this page reads.
#[derive(Clone)]
pub struct SettingsSnapshot(pub Option<RawJson>);

/// Shows the settings.
pub fn settings_page() -> AnyView {
    lazy_view(load_view)
}

/// Loads the view's code on first use, since it is rarely opened.
#[wasm_split(settings, wasm_split_path = leptos::wasm_split, fallible, preload(load))]
pub fn load_view() -> Result<LazyView, LoadError> {
    Ok(Arc::new(page))
}

fn page() -> AnyView {
    let settings = SettingsState::new();
    let (confirm, navigation) = (Confirm::new(), use_navigation());
    if use_lifecycle().is_hydrated() {
        // The link that led here may be in a drawer that is closed by now.
        browser::on_next_frame(|| browser::focus_selector("#settings"));
    }
    let tab = Memo::new(
        move |before: Option<&SettingsTab>| match navigation.page_route().get() {
            Route::Settings(tab) => tab,
            // The settings are about to be removed.
            _ => before.copied().unwrap_or(SettingsTab::General),
        },
    );
    // The list of the tabs. A narrow window shows it alone.
    let is_list = Memo::new(move |_| navigation.with_url(|url| is_list_of_tabs(url)));
    let region = NodeRef::<html::Div>::new();
    Effect::new(move |before: Option<(SettingsTab, bool)>| {
        let shown = (tab.get(), is_list.get());
        if let Some(region) = region.get_untracked()
            && before.is_some_and(|before| before != shown)
        {
            browser::scroll_to_top(&region);
            // In a narrow window, the link that led here is hidden now.
            if browser::matches_media(NARROW_QUERY) {
                browser::on_next_frame(|| browser::focus_selector("#settings"));
            }
        }
        shown
    });
    // One view for all tabs of the server.
    let shown_view = Memo::new(move |_| Some(tab.get()).filter(|tab| !tab.is_of_server()));
    view! {
        <div
            node_ref=region
            id="settings"
            class="settings"
            class:settings-list-only=is_list
            data-lazy=LazyPart::Settings.name()
            role="region"
            aria-label=texts::SETTINGS
            tabindex="-1"
        >
            <div class="settings-page">
                <div class="settings-side">
                    <a class="button button-quiet settings-back" href=move || navigation.previous_url()>
                        {icons::previous()}
                        {texts::BACK}
                    </a>
                    {tabs::list(tab)}
                </div>
                <div class="settings-content">
                    <a class="button button-quiet settings-up" href=SETTINGS_PATH>
                        {icons::previous()}
                        {texts::SETTINGS}
                    </a>
                    {move || match shown_view.get() {
                        None => server_tab::server_tab(),
                        Some(tab) => tab_view(tab, settings, confirm),
                    }}
                </div>
            </div>
            {confirm.dialog()}
        </div>
    }
    .erase()
}

/// The view of a tab that the server does not make.
fn tab_view(tab: SettingsTab, settings: SettingsState, confirm: Confirm) -> AnyView {
    settings.load_if_unread();
    let content = match tab {
        SettingsTab::Models => endpoints::section(confirm),
        SettingsTab::Files => files::section(confirm),
        SettingsTab::Memories => loaded(settings, move || memories::section(settings, confirm)),
        SettingsTab::Tokens => loaded(settings, move || tokens::section(settings, confirm)),
        _ => general::tab(settings, confirm),
    };
    view! {
        <p class="settings-note without-script">{texts::READ_ONLY}</p>
        {content}
    }
    .erase()
}

/// Shows sections once the user's data are loaded.
fn loaded(settings: SettingsState, sections: impl Fn() -> AnyView + Send + 'static) -> AnyView {
    let view = move || match settings.phase.get() {
        SettingsPhase::Loading => {
            view! { <div class="notice notice-waiting" role="status">{texts::LOADING}</div> }.erase()
        }
        SettingsPhase::Ready => sections(),
        SettingsPhase::Failed(message) => failure(settings, message),
    };
    view.erase()
}

fn failure(settings: SettingsState, message: String) -> AnyView {
    view! {
        <div class="notice" role="alert">
            <h2>{texts::LOADING_FAILED}</h2>
            <p>{message}</p>
            <button type="button" class="button" on:click=move |_| settings.reload()>
                {texts::TRY_AGAIN}
            </button>
        </div>
    }
    .erase()
}

/// A section's heading and description. It takes the focus when a pressed button in the section is removed.
fn heading(id: &'static str, title: &'static str, text: &'static str) -> AnyView {
    view! {
        <h2 id=id tabindex="-1">{title}</h2>
        <p class="settings-about">{text}</p>
    }
    .erase()
}
