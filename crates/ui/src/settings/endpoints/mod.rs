//! The tab *Models* of the settings: the model servers that administrators add, which nobody else sees, and the keys that people
//! bring of their own.
//!
//! - [`presets`]: the services and programs that have a tile
//! - [`state`]: the servers; [`draft`]: the one that is being edited
//! - [`editor`]: the form for one, with the models that a test finds

mod draft;
mod editor;
mod presets;
mod state;
mod texts;

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use leptos::prelude::*;

use self::{
    presets::{PRESETS, Preset, kind_label},
    state::{EndpointsState, Scope},
};
use super::heading;
use crate::{
    browser,
    components::confirm::{Confirm, ConfirmRequest},
    runtime::{each::Each, erase::Erase, when::When},
    state::person::use_person,
};
use parlor_protocol::{EndpointId, EndpointKeyState, EndpointView, LocalServer, OfferedService};

/// The sections: the first one only for administrators.
pub fn section(confirm: Confirm) -> AnyView {
    let (common, own) = (
        EndpointsState::new(Scope::Server),
        EndpointsState::new(Scope::Own),
    );
    let is_shown = Memo::new(move |_| common.endpoints.with(Option::is_some));
    // Also what is no longer allowed can be removed.
    let has_own = Memo::new(move |_| {
        own.is_allowed.get()
            || own
                .endpoints
                .with(|keys| keys.as_ref().is_some_and(|keys| !keys.is_empty()))
    });
    let error = move || common.load_error.get().or_else(|| own.load_error.get());
    // Whoever is alone here needs no keys besides those of the server.
    let has_people = use_person().is_some();
    view! {
        <When when=move || is_shown.get()>
            {content(common, confirm)}
            {has_people.then(|| own_keys_switch(common, own))}
        </When>
        <When when=move || { has_people && has_own.get() }>{content(own, confirm)}</When>
        {move || error().map(|error| view! { <div role="alert" class="settings-alarm">{error}</div> })}
    }
    .erase()
}

/// The switch that allows keys of people's own.
fn own_keys_switch(common: EndpointsState, own: EndpointsState) -> AnyView {
    view! {
        <button
            type="button"
            class="switch-row needs-script"
            role="switch"
            aria-checked=move || own.is_allowed.get().to_string()
            on:click=move |_| common.allow_own_keys(!own.is_allowed.get_untracked())
        >
            <span class="switch-text">{texts::ALLOW_OWN_KEYS}</span>
            <span class="switch" aria-hidden="true"></span>
        </button>
    }
    .erase()
}

/// The texts of a section.
struct SectionTexts {
    id: &'static str,
    title: &'static str,
    about: &'static str,
    none: &'static str,
    add: &'static str,
}

fn section_texts(scope: Scope) -> SectionTexts {
    match scope {
        Scope::Server => SectionTexts {
            id: "settings-endpoints",
            title: texts::MODELS,
            about: texts::ABOUT_SERVERS,
            none: texts::NO_SERVERS,
            add: texts::ADD_SERVER,
        },
        Scope::Own => SectionTexts {
            id: "settings-own-keys",
            title: texts::OWN_KEYS,
            about: texts::ABOUT_OWN_KEYS,
            none: texts::NO_OWN_KEYS,
            add: texts::ADD_KEY,
        },
    }
}

fn content(state: EndpointsState, confirm: Confirm) -> AnyView {
    let SectionTexts {
        id,
        title,
        about,
        none,
        add,
    } = section_texts(state.scope);
    let all = move || state.endpoints.get().unwrap_or_default();
    let is_empty = Memo::new(move |_| all().is_empty());
    let is_idle = move || !state.is_choosing.get() && state.draft.with(Option::is_none);
    let can_add = move || is_idle() && (state.scope == Scope::Server || state.is_allowed.get());
    let choose = move |_| {
        state.is_choosing.set(true);
        browser::on_next_frame(|| browser::focus_selector(".endpoint-tile"));
    };
    view! {
        <section class="settings-section" aria-labelledby=id>
            {heading(id, title, about)}
            <When when=move || is_empty.get() && is_idle()>
                <p class="settings-empty">{none}</p>
            </When>
            <ul class="settings-list">
                <Each of=move || rows(all()) key=|row| row.number let:row>
                    {row_view(state, confirm, row.endpoint)}
                </Each>
            </ul>
            <When when=can_add>
                <div>
                    <button type="button" class="button needs-script" on:click=choose>{add}</button>
                </div>
            </When>
            <When when=move || state.is_choosing.get()>{tiles(state)}</When>
            {move || state.draft.get().map(|draft| editor::form(state, draft))}
        </section>
    }
    .erase()
}

/// A row of the list. Its number changes with what it shows, so that it is made anew.
struct Row {
    number: u64,
    endpoint: EndpointView,
}

fn rows(endpoints: Vec<EndpointView>) -> Vec<Row> {
    let endpoints = endpoints.into_iter();
    endpoints
        .map(|endpoint| Row {
            number: hash_of(&endpoint),
            endpoint,
        })
        .collect()
}

/// A number that is the same for equal values.
fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn row_view(state: EndpointsState, confirm: Confirm, endpoint: EndpointView) -> AnyView {
    let key = match endpoint.key {
        EndpointKeyState::None => texts::NO_KEY,
        EndpointKeyState::Set => texts::WITH_KEY,
        EndpointKeyState::NeededAgain => texts::KEY_NEEDED_AGAIN,
    };
    let is_off = (!endpoint.is_enabled).then(|| view! { <span>{texts::SWITCHED_OFF}</span> });
    let hidden = match endpoint.hidden_models.len() {
        0 => None,
        count => Some(texts::models_hidden(count)),
    };
    let hidden = hidden.map(|text| view! { <span>{text}</span> });
    let problem = endpoint.problem.clone();
    let problem = problem.map(|problem| view! { <p class="settings-alarm">{problem}</p> });
    let (name, base_url, kind) = (endpoint.name.clone(), endpoint.base_url.clone(), endpoint.kind);
    let actions = match endpoint.id {
        Some(id) => actions(state, confirm, id, endpoint),
        None => view! { <span class="settings-note">{texts::FROM_SETTINGS}</span> }.erase(),
    };
    view! {
        <li class="settings-row">
            <div class="settings-what">
                <p dir="auto">{name}</p>
                <p class="settings-facts">
                    <span>{kind_label(kind)}</span>
                    <span>{base_url}</span>
                    <span>{key}</span>
                    {is_off}
                    {hidden}
                </p>
                {problem}
            </div>
            {actions}
        </li>
    }
    .erase()
}

fn actions(state: EndpointsState, confirm: Confirm, id: EndpointId, endpoint: EndpointView) -> AnyView {
    let named = |verb: &str| texts::of_server(verb, &endpoint.name);
    let (change_name, remove_name) = (named(texts::CHANGE), named(texts::REMOVE));
    let (switch, switch_name) = match endpoint.is_enabled {
        true => (texts::SWITCH_OFF, named(texts::SWITCH_OFF)),
        false => (texts::SWITCH_ON, named(texts::SWITCH_ON)),
    };
    let title = [&remove_name, "?"].concat();
    let (text, heading) = match state.scope {
        Scope::Server => (texts::REMOVE_WARNING, "#settings-endpoints"),
        Scope::Own => (texts::KEY_IS_DELETED, "#settings-own-keys"),
    };
    let is_enabled = endpoint.is_enabled;
    let remove = move |_| {
        confirm.ask(ConfirmRequest {
            title: title.clone(),
            text: text.into(),
            button_label: texts::REMOVE,
            on_confirm: Arc::new(move || {
                state.remove(id);
                browser::focus_selector(heading);
            }),
        });
    };
    view! {
        <div class="endpoint-actions needs-script">
            <button type="button" class="button button-quiet" aria-label=change_name on:click=move |_| state.edit(&endpoint)>
                {texts::CHANGE}
            </button>
            <button
                type="button"
                class="button button-quiet"
                aria-label=switch_name
                on:click=move |_| state.set_enabled(id, !is_enabled)
            >
                {switch}
            </button>
            <button type="button" class="button button-quiet" aria-label=remove_name on:click=remove>
                {texts::REMOVE}
            </button>
        </div>
    }
    .erase()
}

/// The services and programs to choose from.
fn tiles(state: EndpointsState) -> AnyView {
    let tile = |preset: &'static Preset| {
        view! {
            <li>
                <button type="button" class="endpoint-tile" on:click=move |_| state.begin(preset)>
                    {preset.label}
                </button>
            </li>
        }
        .erase()
    };
    let own_tile = |service: OfferedService| {
        let label = service.label.clone();
        view! {
            <li>
                <button type="button" class="endpoint-tile" on:click=move |_| state.begin_own(service.clone())>
                    {label}
                </button>
            </li>
        }
        .erase()
    };
    let tiles: Vec<_> = match state.scope {
        Scope::Server => PRESETS.iter().map(tile).collect(),
        Scope::Own => state.services.get_untracked().into_iter().map(own_tile).collect(),
    };
    view! {
        <ul class="endpoint-tiles" aria-label=texts::WHICH_ONE>{tiles}</ul>
        {(state.scope == Scope::Server).then(|| local_servers(state))}
        <div>
            <button type="button" class="button button-quiet" on:click=move |_| state.close()>{texts::CANCEL}</button>
        </div>
    }
    .erase()
}

/// The search for servers on Parlor's machine, with what it has found.
fn local_servers(state: EndpointsState) -> AnyView {
    let row = move |found: LocalServer| {
        let (label, finding) = (found.label.clone(), found.finding.clone());
        let name = [texts::ADD_FOUND, " “", &found.label, "”"].concat();
        let add = (found.models > 0).then(|| {
            view! {
                <button type="button" class="button" aria-label=name on:click=move |_| state.begin_found(&found)>
                    {texts::ADD_FOUND}
                </button>
            }
        });
        view! {
            <li class="settings-row">
                <div class="settings-what">
                    <p>{label}</p>
                    <p class="settings-facts">{finding}</p>
                </div>
                {add}
            </li>
        }
        .erase()
    };
    let rows = move || {
        let found = state.local.get()?;
        let rows: Vec<_> = found.into_iter().map(row).collect();
        Some(view! { <ul class="settings-list" aria-label=texts::FOUND_LOCAL>{rows}</ul> })
    };
    view! {
        <div class="endpoint-bar">
            <button
                type="button"
                class="button"
                aria-disabled=move || state.is_finding.get().to_string()
                on:click=move |_| state.find_local()
            >
                {texts::FIND_LOCAL}
            </button>
            <div role="status" class="settings-note">{move || state.is_finding.get().then_some(texts::SEARCHING)}</div>
        </div>
        {rows}
    }
    .erase()
}
