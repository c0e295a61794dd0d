//! The tools that this server lacks, and what whoever runs it can do.

use leptos::prelude::*;

use super::{heading, state::SettingsState, texts};
use crate::runtime::erase::Erase;

/// The section; nothing if no tool is missing.
pub fn section(settings: SettingsState) -> AnyView {
    (move || {
        let missing = settings.unavailable_tools.get();
        (!missing.is_empty()).then(|| {
            let reasons: Vec<_> = missing
                .into_iter()
                .map(|reason| view! { <p class="settings-hint">{reason.message}</p> }.erase())
                .collect();
            view! {
                <section class="settings-section" aria-labelledby="settings-missing">
                    {heading(
                        "settings-missing",
                        texts::MISSING_TOOLS,
                        texts::MISSING_TOOLS_ABOUT,
                    )}
                    {reasons}
                </section>
            }
            .erase()
        })
    })
    .erase()
}
