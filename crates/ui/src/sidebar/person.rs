//! The foot of the list: the signed-in person with a menu, or the link to the settings where there are no accounts.

use leptos::{ev, html, prelude::*};

use super::texts;
use crate::{
    browser,
    components::icons,
    preferences::{notify_switch, theme_choice},
    runtime::erase::Erase,
    state::{
        person::{Person, use_person},
        route::Route,
        settings_tab::SettingsTab,
        use_navigation,
    },
};

/// Shows the foot of the list.
pub fn foot() -> AnyView {
    match use_person() {
        Some(person) => person_row(person),
        None => settings_link("nav-row"),
    }
}

fn settings_link(class: &'static str) -> AnyView {
    let navigation = use_navigation();
    let is_here = move || matches!(navigation.page_route().get(), Route::Settings(_));
    view! {
        <a class=class href=SettingsTab::General.path() aria-current=move || is_here().then_some("page")>
            {icons::gear()} {texts::SETTINGS}
        </a>
    }
    .erase()
}

/// The person's name, which opens the menu. The menu is the platform's own popover and stands at the same place on every
/// page, so that it works without scripts too.
fn person_row(person: Person) -> AnyView {
    let menu = NodeRef::<html::Div>::new();
    let Person {
        name, has_session, ..
    } = person;
    let initial: String = name.chars().take(1).collect();
    let pressed = move |event: ev::MouseEvent| {
        if let Some(menu) = menu.get_untracked()
            && browser::is_within(&event, "a")
        {
            browser::close_popover(&menu);
        }
    };
    let sign_out = has_session.then(|| {
        view! {
            <form method="post" action="/sign-out">
                <button type="submit" class="menu-item">{texts::SIGN_OUT}</button>
            </form>
        }
    });
    view! {
        <button type="button" class="nav-row person" popovertarget="person-menu">
            <span class="person-initial" aria-hidden="true">{initial}</span>
            <span class="person-name" dir="auto">{name}</span>
            <span class="visually-hidden">{texts::PERSON_HINT}</span>
        </button>
        <div
            node_ref=menu
            id="person-menu"
            class="menu person-menu"
            popover="auto"
            role="group"
            aria-label=texts::PERSON_MENU
            on:click=pressed
        >
            {settings_link("menu-item")}
            <div class="person-preferences">
                <span class="person-label" aria-hidden="true">{texts::THEME}</span>
                {theme_choice("menu-theme")}
                {notify_switch()}
            </div>
            {sign_out}
        </div>
    }
    .erase()
}
