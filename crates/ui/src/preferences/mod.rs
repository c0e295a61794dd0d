//! The preferences that this browser stores: the theme, and notifications of long answers. They are shown in the menu of the
//! person and in the settings, and for readers of a share in the header.

mod notify;
mod texts;
mod theme;

use leptos::prelude::*;

use self::theme::Theme;
pub use self::{
    notify::notify_switch,
    theme::{ThemeSwitch, theme_choice},
};
use crate::state::notifications::NotifySetting;

/// The preferences of the page, which all their controls share.
#[derive(Clone, Copy)]
pub struct Preferences {
    theme: RwSignal<Theme>,
    notify: RwSignal<NotifySetting>,
}

impl Preferences {
    /// Creates and provides them. The stored ones are read after hydration. Readers of a share get no notifications.
    pub fn provide(is_reader: bool) {
        let preferences = Self {
            theme: RwSignal::default(),
            notify: RwSignal::default(),
        };
        theme::follow(preferences.theme);
        if !is_reader {
            notify::follow(preferences.notify);
        }
        provide_context(preferences);
    }
}

fn use_preferences() -> Preferences {
    expect_context()
}
