//! The list with its rows, the header, choices, and rows of lists, each in every state.

use leptos::prelude::*;

use crate::{
    commands::{Shortcut, keys},
    components::icons,
    home::welcome_cards,
    layout::header::Header,
    preferences::{notify_switch, theme_choice},
    runtime::erase::Erase,
    sidebar::Sidebar,
};

/// The list of conversations, and the bar above one.
pub fn list() -> AnyView {
    let title = Memo::new(|_| "Every state".to_owned());
    view! {
        <div class="design-app">
            <Sidebar/>
            <Header title/>
        </div>
    }
    .erase()
}

/// The cards of the home.
pub fn home() -> AnyView {
    view! { <div class="design-stage">{welcome_cards()}</div> }.erase()
}

/// Choices: one of a few, on or off, a tab, a row of a list that is moved through by keys.
pub fn choices() -> AnyView {
    let rows = vec![
        row(theme_choice("design-theme")),
        row(view! {
            {notify_switch()}
            <button type="button" class="switch-row" role="switch" aria-checked="true">
                "A switch that is on" <span class="switch" aria-hidden="true"></span>
            </button>
        }
        .erase()),
        tabs(),
        palette(),
    ];
    rows.into_any()
}

fn row(content: AnyView) -> AnyView {
    view! { <div class="design-row">{content}</div> }.erase()
}

fn tabs() -> AnyView {
    view! {
        <nav class="tabs" aria-label="Tabs">
            <a href="#search" aria-current="page">"Search"</a>
            <a href="#saved">"Saved" <span class="tab-count">"3"</span></a>
        </nav>
    }
    .erase()
}

fn palette() -> AnyView {
    view! {
        <div class="menu" role="listbox" aria-label="Found">
            <div class="palette-heading" role="presentation">"Recent chats"</div>
            <div class="palette-row palette-active" role="option" aria-selected="true">
                {icons::chat()} <span class="palette-name">"How do tides work?"</span>
            </div>
            <div class="palette-row" role="option" aria-selected="false">
                {icons::plus()} <span class="palette-name">"New chat"</span> {keys(Shortcut::NewChat)}
            </div>
            <div class="palette-row palette-found" role="option" aria-selected="false">
                {icons::chat()} <span class="palette-name">"A letter"</span>
                <span class="palette-snippet"><span>"… thank you for the "<mark>"map"</mark>" …"</span></span>
            </div>
        </div>
    }
    .erase()
}

/// Notices of forms and settings.
pub fn form_notices() -> AnyView {
    view! {
        <div class="design-row">
            <p class="settings-hint">"A hint."</p>
            <p class="settings-empty">"Nothing yet."</p>
            <p class="account-done">"The password was changed."</p>
            <p class="account-error" role="alert">"The two passwords differ."</p>
            <p class="settings-alarm" role="alert">"Parlor did not respond."</p>
        </div>
    }
    .erase()
}
