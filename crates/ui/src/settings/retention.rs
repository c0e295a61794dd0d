//! The age at which the user's chats are erased.

use leptos::prelude::*;

use super::{heading, state::SettingsState, texts};
use crate::{api::personal, runtime::erase::Erase};

/// The offered numbers of days.
const DAYS: [u32; 5] = [7, 30, 90, 180, 365];

pub fn section(settings: SettingsState) -> AnyView {
    let choose = move |event| {
        let days = event_target_value(&event).parse().unwrap_or_default();
        let before = settings.retention_days.get_untracked();
        settings.retention_days.set(days);
        settings.send(personal::set_retention(days), move || {
            settings.retention_days.set(before)
        });
    };
    let options = move || {
        let (chosen, max) = (settings.retention_days.get(), settings.max_retention_days.get());
        let mut offered: Vec<u32> = DAYS.into_iter().filter(|days| max == 0 || *days < max).collect();
        if chosen > 0 && !offered.contains(&chosen) {
            offered.push(chosen);
        }
        let own = offered.into_iter().map(|days| (days, texts::after_days(days)));
        let of_server = match max {
            0 => texts::NEVER.into(),
            max => texts::after_days(max),
        };
        let options = std::iter::once((0, of_server)).chain(own);
        let option = |(days, name): (u32, String)| {
            view! { <option value=days.to_string() selected=days == chosen>{name}</option> }
        };
        options.map(option).collect_view()
    };
    view! {
        <section class="settings-section needs-script" aria-labelledby="settings-retention">
            {heading("settings-retention", texts::RETENTION, texts::RETENTION_ABOUT)}
            <label class="settings-preference">
                <span>{texts::ERASE_CHATS}</span>
                <select class="settings-input settings-days" on:change=choose>{options}</select>
            </label>
        </section>
    }
    .erase()
}
