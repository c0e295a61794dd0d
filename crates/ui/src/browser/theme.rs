//! The theme that is shown.

use std::cell::OnceCell;

use leptos::prelude::{ArcRwSignal, Get, GetUntracked, Set, document};

use super::{matches_media, on_media_change, set_root_attribute};

const DARK_SYSTEM: &str = "(prefers-color-scheme: dark)";

thread_local! {
    static IS_DARK: OnceCell<ArcRwSignal<bool>> = const { OnceCell::new() };
}

/// Returns true while the page is dark, by the user's choice or the system's. Tracked.
pub fn is_dark() -> bool {
    IS_DARK.with(|is_dark| is_dark.get_or_init(follow).get())
}

/// Returns a signal that follows the theme of the page.
fn follow() -> ArcRwSignal<bool> {
    on_media_change(DARK_SYSTEM, theme_changed);
    ArcRwSignal::new(reads_dark())
}

/// Shows the theme that the user has chosen; without one, the system's.
pub fn set_theme(chosen: Option<&str>) {
    set_root_attribute("data-theme", chosen);
    theme_changed();
}

/// Tells those who follow the theme if it has changed.
fn theme_changed() {
    if let Some(is_dark) = IS_DARK.with(|is_dark| is_dark.get().cloned())
        && is_dark.get_untracked() != reads_dark()
    {
        is_dark.set(reads_dark());
    }
}

fn reads_dark() -> bool {
    let root = document().document_element();
    match root.and_then(|root| root.get_attribute("data-theme")).as_deref() {
        Some(chosen) => chosen == "dark",
        None => matches_media(DARK_SYSTEM),
    }
}
