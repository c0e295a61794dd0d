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
        settings_tab::SETTINGS_PATH,
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

/// The value of `aria-current` for what leads to the settings. Tracked.
fn current_in_settings() -> impl Fn() -> Option<&'static str> + Copy {
    let page_route = use_navigation().page_route();
    move || matches!(page_route.get(), Route::Settings(_)).then_some("page")
}

fn settings_link(class: &'static str) -> AnyView {
    view! {
        <a class=class href=SETTINGS_PATH aria-current=current_in_settings()>
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
        <button type="button" class="nav-row person" popovertarget="person-menu" aria-current=current_in_settings()>
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
