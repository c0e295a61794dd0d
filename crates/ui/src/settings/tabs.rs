//! The list of the tabs: links, beside the content or above it.

use leptos::prelude::*;

use super::texts;
use crate::{
    browser,
    runtime::{effect::effect, erase::Erase},
    state::{person::use_person, settings_tab::SettingsTab},
};

/// Lists the tabs that the person has.
pub fn list(tab: Memo<SettingsTab>) -> AnyView {
    let person = use_person();
    let listed = SettingsTab::ALL.iter().copied();
    let listed: Vec<_> = listed.filter(|tab| tab.is_listed_for(person.as_ref())).collect();
    let first = listed.iter().position(|tab| tab.is_of_administrators());
    let links: Vec<_> = listed
        .into_iter()
        .enumerate()
        .map(|(index, listed)| {
            let begins = first == Some(index);
            let is_here = move || (tab.get() == listed).then_some("page");
            view! {
                <li class:settings-tabs-more=begins>
                    <a class="nav-row" href=listed.path() aria-current=is_here>
                        {listed.title()}
                    </a>
                </li>
            }
            .erase()
        })
        .collect();
    // Where the tabs are one row, that of the page may be beyond its end.
    effect(move || {
        tab.track();
        browser::on_next_frame(|| browser::show_in_row(".settings-tabs", "[aria-current]"));
    });
    view! {
        <nav class="settings-tabs" aria-label=texts::SETTINGS>
            <ul>{links}</ul>
        </nav>
    }
    .erase()
}
