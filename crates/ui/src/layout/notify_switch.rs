//! The switch for notifications of long answers. The setting is stored in this browser; the permission is the
//! browser's, and is asked for only when the switch is pressed.

use leptos::prelude::*;

use crate::runtime::effect::effect;
use crate::{
    browser::{self, NotificationPermission},
    commands::{Command, use_commands},
    components::{icons, toast::use_toasts},
    state::{
        notifications::{NotifySetting, STORAGE_KEY},
        use_lifecycle,
    },
};

const LABEL: &str = "Notify me when a long answer is finished";

/// A bell, on or off.
#[component]
pub fn NotifySwitch() -> impl IntoView {
    let (lifecycle, toasts) = (use_lifecycle(), use_toasts());
    let setting = RwSignal::new(NotifySetting::default());
    // It may have been changed in another tab, or in the browser's settings.
    effect(move || {
        lifecycle.is_visible();
        setting.set(NotifySetting::current());
    });
    let press = move || match setting.get_untracked() {
        NotifySetting::On => {
            browser::storage_set(STORAGE_KEY, None);
            setting.set(NotifySetting::current());
        }
        NotifySetting::Off => {
            let answered = move |permission| {
                if permission == NotificationPermission::Granted {
                    browser::storage_set(STORAGE_KEY, Some("on"));
                }
                let now = match permission {
                    NotificationPermission::Unsupported => NotifySetting::Unsupported,
                    _ => NotifySetting::current(),
                };
                setting.set(now);
                if now != NotifySetting::Off {
                    toasts.show(announcement(now));
                }
            };
            match browser::notification_permission() {
                NotificationPermission::Undecided => browser::request_notification_permission(answered),
                permission => answered(permission),
            }
        }
        blocked => toasts.show(announcement(blocked)),
    };
    let on = move || setting.get() == NotifySetting::On;
    use_commands().add(
        Command::new("Turn notifications on or off", icons::bell, press).words("notify bell long answers"),
    );
    view! {
        <button
            type="button"
            class="icon-button needs-script"
            aria-label=LABEL
            title=move || setting.get().title()
            aria-pressed=move || on().to_string()
            on:click=move |_| press()
        >
            {move || if on() { icons::bell() } else { icons::bell_off() }}
        </button>
    }
}

/// The screen reader text for the result of a press.
fn announcement(setting: NotifySetting) -> &'static str {
    match setting {
        NotifySetting::On => "You get a notification when a long answer is done and you are elsewhere.",
        NotifySetting::Blocked => {
            "The browser blocks notifications from Parlor. Allow them in its settings for this site, then press again."
        }
        NotifySetting::Off | NotifySetting::Unsupported => "This browser does not support notifications.",
    }
}
