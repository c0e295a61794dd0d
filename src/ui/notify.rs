//! Whether the person wants to be notified of long answers. The wish is kept in this browser; the permission is the
//! browser's, and asked for only when the switch is pressed.

use leptos::prelude::*;

use super::{
    browser::{self, Permission},
    icons,
    live::use_live,
};

const KEY: &str = "parlor-notify";
const NAME: &str = "Notify me when a long answer is finished";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Wish {
    #[default]
    Off,
    On,
    /// The person, or the browser by itself, has said no.
    Blocked,
    /// There are no notifications here.
    Impossible,
}

impl Wish {
    fn now() -> Self {
        match browser::notification_permission() {
            Permission::Impossible => Self::Impossible,
            Permission::Denied => Self::Blocked,
            Permission::Granted if browser::stored(KEY).is_some() => Self::On,
            Permission::Granted | Permission::NotAsked => Self::Off,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::On => "Notify me when a long answer is finished: on",
            Self::Off | Self::Impossible => "Notify me when a long answer is finished: off",
            Self::Blocked => "Notify me when a long answer is finished: blocked by the browser",
        }
    }
}

/// Whether the person wants notifications, and the browser shows them.
pub fn is_wanted() -> bool {
    Wish::now() == Wish::On
}

/// A bell that is on or off.
#[component]
pub fn NotifySwitch() -> impl IntoView {
    let live = use_live();
    let wish = RwSignal::new(Wish::default());
    // It may have been changed in another tab, or in the browser's settings.
    Effect::new(move |_| {
        live.visible.track();
        wish.set(Wish::now());
    });
    let press = move |_| match wish.get_untracked() {
        Wish::On => {
            browser::store(KEY, None);
            wish.set(Wish::now());
        }
        Wish::Off => {
            let answered = move |permission| {
                if permission == Permission::Granted {
                    browser::store(KEY, Some("on"));
                }
                let now = match permission {
                    Permission::Impossible => Wish::Impossible,
                    _ => Wish::now(),
                };
                wish.set(now);
                if now != Wish::Off {
                    live.toasts.say(said(now));
                }
            };
            match browser::notification_permission() {
                Permission::NotAsked => browser::ask_for_notifications(answered),
                permission => answered(permission),
            }
        }
        blocked => live.toasts.say(said(blocked)),
    };
    let on = move || wish.get() == Wish::On;
    view! {
        <button
            type="button"
            class="icon-button needs-script"
            aria-label=NAME
            title=move || wish.get().title()
            aria-pressed=move || on().to_string()
            on:click=press
        >
            {move || if on() { icons::bell() } else { icons::bell_off() }}
        </button>
    }
}

/// What came of a press.
fn said(wish: Wish) -> &'static str {
    match wish {
        Wish::On => "You will be notified when a long answer is finished and you look elsewhere.",
        Wish::Blocked => {
            "The browser blocks notifications from Parlor. Allow them in its settings for this site, then press again."
        }
        Wish::Off | Wish::Impossible => "This browser shows no notifications of pages.",
    }
}
