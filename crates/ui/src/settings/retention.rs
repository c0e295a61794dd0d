//! The age at which the user's chats are erased.

use std::sync::Arc;

use leptos::{html, prelude::*};

use super::{heading, state::SettingsState, texts};
use crate::{
    api::personal,
    components::confirm::{Confirm, ConfirmRequest},
    runtime::erase::Erase,
};

/// The offered numbers of days.
const DAYS: [u32; 5] = [7, 30, 90, 180, 365];

pub fn section(settings: SettingsState, confirm: Confirm) -> AnyView {
    let field = NodeRef::<html::Select>::new();
    let show = move |days: u32| {
        settings.retention_days.set(days);
        // An option that was chosen by hand does not follow its attribute.
        if let Some(field) = field.get_untracked() {
            field.set_value(&days.to_string());
        }
    };
    let save = move |days, before| {
        show(days);
        settings.send(personal::set_retention(days), move || show(before));
    };
    let choose = move |event| {
        let days = event_target_value(&event).parse().unwrap_or_default();
        let before = settings.retention_days.get_untracked();
        if !is_earlier(days, before, settings.max_retention_days.get_untracked()) {
            return save(days, before);
        }
        show(before);
        confirm.ask(ConfirmRequest {
            title: texts::retention_title(days),
            text: texts::RETENTION_WARNING.into(),
            button_label: texts::RETENTION_CONFIRM,
            on_confirm: Arc::new(move || save(days, before)),
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
                <select node_ref=field class="settings-input settings-days" on:change=choose>{options}</select>
            </label>
        </section>
    }
    .erase()
}

/// Returns true if chats are erased earlier with a choice than with the one before. 0 is never, as the maximum of the server.
fn is_earlier(days: u32, before: u32, max: u32) -> bool {
    let effective = |days| [days, max].into_iter().filter(|days| *days > 0).min();
    let [days, before] = [days, before].map(|days| effective(days).unwrap_or(u32::MAX));
    days < before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_erasure_is_recognized() {
        assert!(is_earlier(30, 90, 0));
        assert!(is_earlier(365, 0, 0), "after never");
        assert!(is_earlier(7, 0, 30), "after the server's maximum");
        assert!(!is_earlier(0, 90, 30), "the maximum was less than the choice");
        assert!(!is_earlier(90, 30, 0));
        assert!(!is_earlier(0, 30, 0));
        assert!(!is_earlier(30, 30, 0));
    }
}
