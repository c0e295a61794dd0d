//! The tab *General*: what this browser stores, then the user's instructions.

use leptos::prelude::*;

use super::{heading, instructions, loaded, state::SettingsState, unavailable};
use crate::{
    preferences::{notify_switch, theme_choice},
    runtime::erase::Erase,
};

pub fn tab(settings: SettingsState) -> AnyView {
    let sections =
        move || view! { {instructions::section(settings)} {unavailable::section(settings)} }.erase();
    view! {
        <section class="settings-section needs-script" aria-labelledby="settings-browser">
            {heading("settings-browser", "This browser", "Kept in this browser, for all conversations.")}
            <div class="settings-preference">
                <span>"Theme"</span>
                {theme_choice("settings-theme")}
            </div>
            {notify_switch()}
        </section>
        {loaded(settings, sections)}
    }
    .erase()
}
