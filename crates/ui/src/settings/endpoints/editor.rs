//! The form for one model server, its test, and the models that the test finds.

use leptos::{ev, prelude::*};

use super::{
    draft::Draft,
    hash_of,
    presets::{KeyNeed, kind_label},
    state::EndpointsState,
    texts,
};
use crate::{
    browser,
    runtime::{each::Each, effect::effect, erase::Erase, when::When},
    state::person::use_person,
};
use parlor_protocol::EndpointKind;

/// The maximum number of found models that are shown without a search.
const MAX_SHOWN_MODELS: usize = 100;

/// The number of found models from which on they can be searched.
const MIN_SEARCHED_MODELS: usize = 8;

pub fn form(state: EndpointsState, draft: Draft) -> AnyView {
    let save = move |event: ev::SubmitEvent| {
        event.prevent_default();
        state.save(draft);
    };
    let title = match (draft.service.get_untracked(), draft.is_stored, draft.preset) {
        (Some(service), ..) => service.label,
        (None, true, _) => texts::CHANGE_SERVER.into(),
        (None, false, Some(preset)) => preset.label.into(),
        (None, false, None) => texts::A_SERVER.into(),
    };
    let own_note = draft
        .service
        .with_untracked(|service| service.as_ref().map(|service| service.note.clone()));
    let note = own_note.unwrap_or_else(|| draft.preset.map_or("", |preset| preset.note).to_owned());
    let has_note = !note.is_empty();
    let person_is_here = use_person().is_some();
    effect(move || browser::on_next_frame(|| browser::focus_selector("#endpoint-first")));
    view! {
        <form class="endpoint-form" aria-labelledby="endpoint-form" on:submit=save>
            <h3 id="endpoint-form">{title}</h3>
            {has_note.then(|| view! { <p class="settings-note">{note}</p> })}
            {fields(draft)}
            <div class="endpoint-bar">
                <button
                    type="button"
                    class="button"
                    aria-disabled=move || draft.is_testing.get().to_string()
                    on:click=move |_| state.test(draft)
                >
                    {texts::TEST}
                </button>
                <div role="status" class="settings-note">{move || status(draft)}</div>
            </div>
            {move || finding(draft)}
            <When when=move || { draft.found_count() > 0 }>{found_models(draft)}</When>
            <When when=move || draft.names_models()>{named_models(draft)}</When>
            <When when=move || draft.is_for_all() && person_is_here>{own_keys_box(draft)}</When>
            <div role="alert" class="settings-alarm">{move || draft.error.get()}</div>
            <div class="endpoint-bar">
                <button class="button button-primary" aria-disabled=move || draft.is_saving.get().to_string()>
                    {texts::SAVE}
                </button>
                <button type="button" class="button button-quiet" on:click=move |_| state.close()>{texts::CANCEL}</button>
            </div>
        </form>
    }
    .erase()
}

fn fields(draft: Draft) -> AnyView {
    let is_for_all = draft.is_for_all();
    let is_key_needed = !is_for_all || draft.preset.is_some_and(|preset| preset.key == KeyNeed::Required);
    let key_hint = match (draft.has_key, is_key_needed) {
        (true, _) => texts::KEY_STORED,
        (false, true) => texts::PASTE_KEY,
        (false, false) => texts::KEY_OPTIONAL,
    };
    let has_own_kind = is_for_all && draft.preset.is_none_or(|preset| preset.base_url.is_empty());
    let (name_first, url_first) = match is_key_needed || draft.is_stored {
        true => ("endpoint-name", "endpoint-address"),
        false if draft.name.with_untracked(String::is_empty) => ("endpoint-first", "endpoint-address"),
        false => ("endpoint-name", "endpoint-first"),
    };
    let key_id = if is_key_needed || draft.is_stored {
        "endpoint-first"
    } else {
        "endpoint-key"
    };
    view! {
        <When when=move || is_for_all>
        <label class="field">
            {texts::NAME}
            <input
                id=name_first
                autocomplete="off"
                spellcheck="false"
                required
                readonly=draft.is_stored
                placeholder=texts::NAME_EXAMPLE
                prop:value=move || draft.name.get()
                on:input=move |event| draft.name.set(event_target_value(&event))
            />
        </label>
        <When when=move || has_own_kind>{kind_field(draft)}</When>
        <label class="field">
            {texts::ADDRESS}
            <input
                id=url_first
                type="url"
                autocomplete="off"
                spellcheck="false"
                required
                placeholder=texts::ADDRESS_EXAMPLE
                prop:value=move || draft.base_url.get()
                on:input=move |event| draft.base_url.set(event_target_value(&event))
            />
        </label>
        </When>
        <label class="field">
            {texts::KEY}
            <input
                id=key_id
                type="password"
                autocomplete="off"
                spellcheck="false"
                placeholder=key_hint
                prop:value=move || draft.key.get()
                on:input=move |event| draft.key.set(event_target_value(&event))
            />
        </label>
    }
    .erase()
}

fn kind_field(draft: Draft) -> AnyView {
    let options: Vec<_> = EndpointKind::ALL
        .into_iter()
        .map(|kind| {
            view! {
                <option value=kind.as_str() selected=draft.kind.get_untracked() == kind>
                    {kind_label(kind)}
                </option>
            }
            .erase()
        })
        .collect();
    let choose = move |event| {
        if let Some(kind) = EndpointKind::from_name(&event_target_value(&event)) {
            draft.kind.set(kind);
        }
    };
    view! {
        <label class="field">{texts::PROTOCOL} <select on:change=choose>{options}</select></label>
    }
    .erase()
}

fn status(draft: Draft) -> String {
    if draft.is_testing.get() {
        return texts::TESTING.into();
    }
    match draft.found_count() {
        0 => String::new(),
        count => texts::works(count),
    }
}

/// The reason why the test found no models, with its technical cause apart.
fn finding(draft: Draft) -> Option<AnyView> {
    let problem = draft.tested.with(|tested| tested.as_ref()?.problem.clone())?;
    let details = (!problem.details.is_empty()).then(|| {
        view! {
            <details>
                <summary>{texts::DETAILS}</summary>
                <p class="settings-text">{problem.details}</p>
            </details>
        }
    });
    Some(
        view! {
            <div class="settings-hint" role="alert">
                <p>{problem.message}</p>
                {details}
            </div>
        }
        .erase(),
    )
}

/// The found models, each with a box that says whether it is offered.
fn found_models(draft: Draft) -> AnyView {
    let shown = Memo::new(move |_| draft.found_models());
    let limited = move || {
        let models = shown.get().into_iter().take(MAX_SHOWN_MODELS).enumerate();
        models.collect::<Vec<_>>()
    };
    let more = move || match shown.with(Vec::len) {
        0 => Some(texts::NO_MATCHES.to_owned()),
        count if count > MAX_SHOWN_MODELS => Some(texts::more_models(count - MAX_SHOWN_MODELS)),
        _ => None,
    };
    view! {
        <fieldset class="endpoint-models">
            <legend>{texts::MODELS_TO_OFFER}</legend>
            <When when=move || { draft.found_count() >= MIN_SEARCHED_MODELS }>
                <input
                    type="search"
                    class="settings-input"
                    autocomplete="off"
                    aria-label=texts::SEARCH_MODELS
                    placeholder=texts::SEARCH_MODELS
                    prop:value=move || draft.query.get()
                    on:input=move |event| draft.query.set(event_target_value(&event))
                />
            </When>
            <div class="endpoint-model-list">
                <Each of=limited key=|(_, name)| hash_of(name) let:found>
                    {model_box(draft, found.1)}
                </Each>
            </div>
            <p class="settings-note" role="status">{more}</p>
        </fieldset>
    }
    .erase()
}

fn model_box(draft: Draft, name: String) -> AnyView {
    let (label, set) = (name.clone(), name.clone());
    let is_shown = Memo::new(move |_| draft.hidden_models.with(|hidden| !hidden.contains(&name)));
    view! {
        <label class="endpoint-model">
            <input
                type="checkbox"
                prop:checked=move || is_shown.get()
                on:change=move |_| draft.set_shown(&set, !is_shown.get_untracked())
            />
            <span dir="auto">{label}</span>
        </label>
    }
    .erase()
}

fn named_models(draft: Draft) -> AnyView {
    view! {
        <label class="endpoint-names">
            {texts::MODEL_NAMES}
            <textarea
                class="settings-area"
                spellcheck="false"
                prop:value=move || draft.models.get()
                on:input=move |event| draft.models.set(event_target_value(&event))
            ></textarea>
        </label>
    }
    .erase()
}

/// Allows keys of people's own at the address.
fn own_keys_box(draft: Draft) -> AnyView {
    view! {
        <label class="endpoint-model">
            <input
                type="checkbox"
                prop:checked=move || draft.takes_own_keys.get()
                on:change=move |_| draft.takes_own_keys.update(|takes| *takes = !*takes)
            />
            <span>{texts::TAKES_OWN_KEYS}</span>
        </label>
    }
    .erase()
}
