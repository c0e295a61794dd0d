//! The switch for notifications of long answers. The setting is stored in this browser; the permission is the
//! browser's, and is asked for only when the switch is pressed.

use leptos::prelude::*;

use super::{texts, use_preferences};
use crate::{
    browser::{self, NotificationPermission},
    commands::{Command, use_commands},
    components::{
        icons,
        toast::{Toasts, use_toasts},
    },
    runtime::{effect::effect, erase::Erase},
    state::{
        notifications::{NotifySetting, STORAGE_KEY},
        use_lifecycle,
    },
};

/// Reads the setting after hydration, and again when the page is shown: it may have been changed in another tab, or in the
/// browser's settings.
pub(super) fn follow(setting: RwSignal<NotifySetting>) {
    let lifecycle = use_lifecycle();
    effect(move || {
        lifecycle.is_visible();
        setting.set(NotifySetting::current());
    });
    let toasts = use_toasts();
    use_commands().add(
        Command::new(texts::NOTIFY_COMMAND, icons::bell, move || press(setting, toasts))
            .words("notify bell long answers"),
    );
}

fn press(setting: RwSignal<NotifySetting>, toasts: Toasts) {
    match setting.get_untracked() {
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
    }
}

/// The switch, on or off.
pub fn notify_switch() -> AnyView {
    let (setting, toasts) = (use_preferences().notify, use_toasts());
    let on = move || setting.get() == NotifySetting::On;
    view! {
        <button
            type="button"
            class="switch-row needs-script"
            role="switch"
            title=move || setting.get().title()
            aria-checked=move || on().to_string()
            on:click=move |_| press(setting, toasts)
        >
            <span class="switch-text">{texts::NOTIFY}</span>
            <span class="switch" aria-hidden="true"></span>
        </button>
    }
    .erase()
}

/// The screen reader text for the result of a press.
fn announcement(setting: NotifySetting) -> &'static str {
    match setting {
        NotifySetting::On => texts::NOTIFIED,
        NotifySetting::Blocked => texts::BLOCKED,
        NotifySetting::Off | NotifySetting::Unsupported => texts::UNSUPPORTED,
    }
}
