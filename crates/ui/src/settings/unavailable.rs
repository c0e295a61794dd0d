//! The tools that this server lacks, and what whoever runs it can do.

use leptos::prelude::*;

use super::{heading, state::SettingsState, texts};
use crate::{components::code_words::with_code, runtime::erase::Erase, state::person::use_person};

/// The section, for those who run the server; nothing if no tool is missing.
pub fn section(settings: SettingsState) -> AnyView {
    if use_person().is_some_and(|person| !person.is_administrator) {
        return ().into_any();
    }
    (move || {
        let missing = settings.unavailable_tools.get();
        (!missing.is_empty()).then(|| {
            let reasons: Vec<_> = missing
                .into_iter()
                .map(|reason| view! { <p class="settings-hint">{with_code(&reason.message)}</p> }.erase())
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
