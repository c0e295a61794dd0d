//! The tools that this server lacks, and what whoever runs it can do.

use leptos::prelude::*;

use super::{heading, state::SettingsState};
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
                        "Missing tools",
                        "The assistant could also use these tools. They need something of this server:",
                    )}
                    {reasons}
                </section>
            }
            .erase()
        })
    })
    .erase()
}
