//! The tab *General*: what this browser stores, then the user's instructions.

use leptos::prelude::*;

use super::{heading, instructions, loaded, retention, state::SettingsState, texts, unavailable};
use crate::{
    components::confirm::Confirm,
    preferences::{notify_switch, theme_choice},
    runtime::erase::Erase,
};

pub fn tab(settings: SettingsState, confirm: Confirm) -> AnyView {
    let sections = move || {
        view! { {instructions::section(settings)} {retention::section(settings, confirm)} {unavailable::section(settings)} }.erase()
    };
    view! {
        <section class="settings-section needs-script" aria-labelledby="settings-browser">
            {heading("settings-browser", texts::BROWSER, texts::BROWSER_ABOUT)}
            <div class="settings-preference">
                <span>{texts::THEME}</span>
                {theme_choice("settings-theme")}
            </div>
            {notify_switch()}
        </section>
        {loaded(settings, sections)}
    }
    .erase()
}
