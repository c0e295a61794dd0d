//! The settings page. Its code is loaded when it is first shown.
//!
//! - [`state`]: the page's data, and its updates
//! - [`endpoints`]: the model servers, for administrators
//! - [`instructions`], [`memories`], [`tokens`], [`unavailable`]: its sections

mod endpoints;
mod instructions;
mod memories;
mod state;
mod tokens;
mod unavailable;

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use self::state::{SettingsPhase, SettingsState};
use crate::{
    browser,
    components::{confirm::Confirm, icons},
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_view},
        lazy_part::LazyPart,
    },
    state::{use_lifecycle, use_navigation},
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
    let sections = move || match settings.phase.get() {
        SettingsPhase::Loading => {
            view! { <div class="notice notice-waiting" role="status">"Loading…"</div> }.erase()
        }
        SettingsPhase::Ready => view! {
            {instructions::section(settings)}
            {memories::section(settings, confirm)}
            {tokens::section(settings, confirm)}
            {unavailable::section(settings)}
        }
        .erase(),
        SettingsPhase::Failed(message) => failure(settings, message),
    };
    view! {
        <div id="settings" class="settings" data-lazy=LazyPart::Settings.name() role="region" aria-label="Settings" tabindex="-1">
            <div class="settings-page">
                <a class="button button-quiet settings-back" href=move || navigation.previous_url()>
                    {icons::previous()}
                    "Back"
                </a>
                <section class="settings-section settings-account" aria-labelledby="settings-account">
                    {heading("settings-account", "Account", "Your password, and the devices on which you are signed in.")}
                    <div><a class="button" target="_self" href="/account">"Your account"</a></div>
                </section>
                <section class="settings-section" aria-labelledby="settings-usage">
                    {heading("settings-usage", "Usage", "The tokens and the cost of your answers, by day.")}
                    <div><a class="button" target="_self" href="/account/usage">"Your usage"</a></div>
                </section>
                <p class="without-script">"Without scripts, the settings can be read here and not changed."</p>
                {endpoints::section(confirm)}
                {sections}
            </div>
            {confirm.dialog()}
        </div>
    }
    .erase()
}

fn failure(settings: SettingsState, message: String) -> AnyView {
    view! {
        <div class="notice" role="alert">
            <h2>"The settings could not be loaded"</h2>
            <p>{message}</p>
            <button type="button" class="button" on:click=move |_| settings.reload()>
                "Try again"
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
