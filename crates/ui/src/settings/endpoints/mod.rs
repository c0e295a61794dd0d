//! The section *Models* of the settings: the model servers that administrators add. Nobody else sees it.
//!
//! - [`presets`]: the services and programs that have a tile
//! - [`state`]: the servers, and the one that is being edited
//! - [`editor`]: the form for one, with the models that a test finds

mod editor;
mod presets;
mod state;

use std::sync::Arc;

use leptos::prelude::*;

use self::{
    presets::{PRESETS, Preset, kind_label},
    state::EndpointsState,
};
use super::heading;
use crate::{
    browser,
    components::confirm::{Confirm, ConfirmRequest},
    runtime::{each::Each, erase::Erase, when::When},
};
use parlor_protocol::{EndpointId, EndpointKeyState, EndpointView};

/// The section; nothing for those who are no administrators.
pub fn section(confirm: Confirm) -> AnyView {
    let state = EndpointsState::new();
    let is_shown = Memo::new(move |_| state.endpoints.with(Option::is_some));
    view! {
        <When when=move || is_shown.get()>{content(state, confirm)}</When>
        {move || state.load_error.get().map(|error| view! { <div role="alert" class="settings-alarm">{error}</div> })}
    }
    .erase()
}

fn content(state: EndpointsState, confirm: Confirm) -> AnyView {
    let all = move || state.endpoints.get().unwrap_or_default();
    let is_empty = Memo::new(move |_| all().is_empty());
    let is_idle = move || !state.is_choosing.get() && state.draft.with(Option::is_none);
    let choose = move |_| {
        state.is_choosing.set(true);
        browser::on_next_frame(|| browser::focus_selector(".endpoint-tile"));
    };
    view! {
        <section class="settings-section" aria-labelledby="settings-endpoints">
            {heading(
                "settings-endpoints",
                "Models",
                "The servers whose models people here can choose. A change works at once, without a restart.",
            )}
            <When when=move || is_empty.get() && is_idle()>
                <p class="settings-empty">
                    "None yet. Connect a service with its key, or a program on your own machine, such as Ollama."
                </p>
            </When>
            <ul class="settings-list">
                <Each of=move || rows(all()) key=|row| row.number let:row>
                    {row_view(state, confirm, row.endpoint)}
                </Each>
            </ul>
            <When when=is_idle>
                <div>
                    <button type="button" class="button needs-script" on:click=choose>"Add a model server"</button>
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
    let number = |endpoint: &EndpointView| {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (
            &endpoint.name,
            &endpoint.base_url,
            &endpoint.problem,
            endpoint.is_enabled,
        )
            .hash(&mut hasher);
        (endpoint.kind.as_str(), endpoint.key as u8, endpoint.id.is_some()).hash(&mut hasher);
        (&endpoint.models, &endpoint.hidden_models).hash(&mut hasher);
        hasher.finish()
    };
    let endpoints = endpoints.into_iter();
    endpoints
        .map(|endpoint| Row {
            number: number(&endpoint),
            endpoint,
        })
        .collect()
}

fn row_view(state: EndpointsState, confirm: Confirm, endpoint: EndpointView) -> AnyView {
    let key = match endpoint.key {
        EndpointKeyState::None => "no key",
        EndpointKeyState::Set => "with a key",
        EndpointKeyState::NeededAgain => "its key is needed again",
    };
    let is_off = (!endpoint.is_enabled).then(|| view! { <span>"switched off"</span> });
    let hidden = match endpoint.hidden_models.len() {
        0 => None,
        1 => Some("1 model hidden".to_owned()),
        count => Some([&count.to_string(), " models hidden"].concat()),
    };
    let hidden = hidden.map(|text| view! { <span>{text}</span> });
    let problem = endpoint.problem.clone();
    let problem = problem.map(|problem| view! { <p class="settings-alarm">{problem}</p> });
    let (name, base_url, kind) = (endpoint.name.clone(), endpoint.base_url.clone(), endpoint.kind);
    let actions = match endpoint.id {
        Some(id) => actions(state, confirm, id, endpoint),
        None => {
            view! { <span class="settings-note">"from the settings file or the environment"</span> }.erase()
        }
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
    let named = |verb: &str| [verb, " “", &endpoint.name, "”"].concat();
    let (change_name, remove_name) = (named("Change"), named("Remove"));
    let (switch, switch_name) = match endpoint.is_enabled {
        true => ("Switch off", named("Switch off")),
        false => ("Switch on", named("Switch on")),
    };
    let title = [&remove_name, "?"].concat();
    let is_enabled = endpoint.is_enabled;
    let remove = move |_| {
        confirm.ask(ConfirmRequest {
            title: title.clone(),
            text: "Its models can no longer be chosen, and its key is deleted. Conversations stay; they need another model to go on."
                .into(),
            button_label: "Remove",
            on_confirm: Arc::new(move || {
                state.remove(id);
                browser::focus_selector("#settings-endpoints");
            }),
        });
    };
    view! {
        <div class="endpoint-actions needs-script">
            <button type="button" class="button button-quiet" aria-label=change_name on:click=move |_| state.edit(&endpoint)>
                "Change"
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
                "Remove"
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
    let tiles: Vec<_> = PRESETS.iter().map(tile).collect();
    view! {
        <ul class="endpoint-tiles" aria-label="Which one?">{tiles}</ul>
        <div>
            <button type="button" class="button button-quiet" on:click=move |_| state.close()>"Cancel"</button>
        </div>
    }
    .erase()
}
