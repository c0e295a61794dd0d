//! The theme: light, dark, or the system's.
//!
//! The choice is stored under [`STORAGE_KEY`]; a script in the page's head applies it before the first paint.

use leptos::prelude::*;

use crate::runtime::effect::effect;
use crate::{
    browser,
    commands::{Command, use_commands},
    components::icons,
};

const STORAGE_KEY: &str = "parlor-theme";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    fn from_stored(stored: Option<&str>) -> Self {
        match stored {
            Some("light") => Self::Light,
            Some("dark") => Self::Dark,
            _ => Self::System,
        }
    }

    fn stored_value(self) -> Option<&'static str> {
        match self {
            Self::System => None,
            Self::Light => Some("light"),
            Self::Dark => Some("dark"),
        }
    }

    fn next(self) -> Self {
        match self {
            Self::System => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::System,
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::System => "Theme: system",
            Self::Light => "Theme: light",
            Self::Dark => "Theme: dark",
        }
    }

    fn icon(self) -> fn() -> AnyView {
        match self {
            Self::System => icons::system,
            Self::Light => icons::sun,
            Self::Dark => icons::moon,
        }
    }
}

/// A button that cycles through the themes.
#[component]
pub fn ThemeSwitch() -> impl IntoView {
    let theme = RwSignal::new(Theme::default());
    effect(move || theme.set(Theme::from_stored(browser::storage_get(STORAGE_KEY).as_deref())));
    let choose = move |chosen: Theme| {
        theme.set(chosen);
        let stored = chosen.stored_value();
        browser::storage_set(STORAGE_KEY, stored);
        browser::set_theme(stored);
    };
    for other in [Theme::System, Theme::Dark, Theme::Light] {
        use_commands().add(
            Command::new(other.label(), other.icon(), move || choose(other))
                .words("appearance colours mode toggle")
                .possible_while(move || theme.get() != other),
        );
    }
    view! {
        <button
            type="button"
            class="icon-button needs-script"
            aria-label=move || theme.get().label()
            title=move || theme.get().label()
            on:click=move |_| choose(theme.get_untracked().next())
        >
            {move || (theme.get().icon())()}
        </button>
    }
}
