//! The theme: light, dark, or the system's.
//!
//! The choice is stored under [`STORAGE_KEY`]; a script in the page's head applies it before the first paint.

use leptos::prelude::*;

use super::{texts, use_preferences};
use crate::{
    browser,
    commands::{Command, use_commands},
    components::icons,
    runtime::{effect::effect, erase::Erase},
};

const STORAGE_KEY: &str = "parlor-theme";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

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

    fn name(self) -> &'static str {
        match self {
            Self::System => texts::SYSTEM,
            Self::Light => texts::LIGHT,
            Self::Dark => texts::DARK,
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::System => texts::THEME_SYSTEM,
            Self::Light => texts::THEME_LIGHT,
            Self::Dark => texts::THEME_DARK,
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

/// Reads the stored theme after hydration, and adds the commands for the others.
pub(super) fn follow(theme: RwSignal<Theme>) {
    effect(move || theme.set(Theme::from_stored(browser::storage_get(STORAGE_KEY).as_deref())));
    for other in [Theme::System, Theme::Dark, Theme::Light] {
        use_commands().add(
            Command::new(other.label(), other.icon(), move || choose(theme, other))
                .words("appearance colours mode toggle")
                .possible_while(move || theme.get() != other),
        );
    }
}

fn choose(setting: RwSignal<Theme>, theme: Theme) {
    setting.set(theme);
    let stored = theme.stored_value();
    browser::storage_set(STORAGE_KEY, stored);
    browser::set_theme(stored);
}

/// The themes side by side. `id` names the group, since a page may have two.
pub fn theme_choice(id: &'static str) -> AnyView {
    let setting = use_preferences().theme;
    let option = |theme: Theme| {
        view! {
            <label class="choice-option">
                <input
                    type="radio"
                    name=id
                    prop:checked=move || setting.get() == theme
                    on:change=move |_| choose(setting, theme)
                />
                <span>{theme.name()}</span>
            </label>
        }
        .erase()
    };
    view! {
        <fieldset class="choice needs-script">
            <legend class="visually-hidden">{texts::THEME}</legend>
            {Vec::from(Theme::ALL.map(option))}
        </fieldset>
    }
    .erase()
}

/// A button that cycles through the themes, for pages without a menu.
#[component]
pub fn ThemeSwitch() -> impl IntoView {
    let theme = use_preferences().theme;
    view! {
        <button
            type="button"
            class="icon-button needs-script"
            aria-label=move || theme.get().label()
            title=move || theme.get().label()
            on:click=move |_| choose(theme, theme.get_untracked().next())
        >
            {move || (theme.get().icon())()}
        </button>
    }
}
