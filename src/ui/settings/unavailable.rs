//! The tools that this server lacks, and what whoever runs it can do.

use leptos::prelude::*;

use super::{heading, state::SettingsState};
use crate::ui::runtime::erase::Erase;

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
                        "Python",
                        "The assistant can compute with Python, in a sandbox of this server. It is not offered here yet.",
                    )}
                    {reasons}
                </section>
            }
            .erase()
        })
    })
    .erase()
}
