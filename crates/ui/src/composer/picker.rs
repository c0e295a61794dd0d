//! The model picker in the composer: a button that opens the list of models.

use leptos::{html, prelude::*};

use super::{model_list::ModelDialog, texts};
use crate::{
    browser,
    components::icons,
    runtime::{signal::after_hydration, when::When},
    state::{
        models::{by_endpoint, is_tool_problem},
        use_models,
    },
};
use parlor_protocol::model_list::{ModelInfo, ModelListProblem};

/// The chosen model. Without scripts, the platform's own select list.
#[component]
pub fn ModelPicker() -> impl IntoView {
    let models = use_models();
    let (is_open, anchor) = (RwSignal::new(false), NodeRef::<html::Button>::new());
    let on_choose = Callback::new(move |id| models.choose(id));
    let name = Memo::new(move |_| models.current_name());
    let none = Memo::new(move |_| name.with(Option::is_none));
    let label = move || texts::chosen_model(&name.get().unwrap_or_default());
    view! {
        <PlainPicker/>
        <button
            node_ref=anchor
            type="button"
            class="picker needs-script"
            class:hidden=none
            aria-haspopup="dialog"
            aria-label=label
            title=move || models.current()
            on:click=move |_| {
                models.refresh();
                is_open.set(true);
            }
        >
            <span class="picker-name">{move || name.get()}</span>
            {icons::chevron()}
        </button>
        <When when=move || none.get()>
            <span class="picker-none">{texts::NO_MODEL_CONNECTED}</span>
        </When>
        <ModelDialog is_open anchor on_choose/>
    }
}

/// The models by endpoint, for pages without scripts.
#[component]
fn PlainPicker() -> impl IntoView {
    let models = use_models();
    // With scripts, it is removed after hydration.
    let is_hydrated = after_hydration();
    let options = move || {
        let chosen = models.current();
        let groups = models.with_list(|list| by_endpoint(list, chosen.as_deref()));
        let option = |model: ModelInfo| {
            let selected = chosen.as_deref() == Some(&*model.id);
            view! { <option value=model.id selected=selected>{model.name}</option> }
        };
        let group = |(endpoint, models): (String, Vec<ModelInfo>)| {
            let options: Vec<_> = models.into_iter().map(option).collect();
            view! { <optgroup label=endpoint>{options}</optgroup> }
        };
        groups.into_iter().map(group).collect::<Vec<_>>()
    };
    view! {
        <When when=move || !is_hydrated.get()>
            <select class="picker without-script" name="model" aria-label=texts::MODEL>
                {options()}
            </select>
        </When>
    }
}

/// Endpoints whose models could not be listed: a quiet notice, with the details one click away.
#[component]
pub fn EndpointProblems() -> impl IntoView {
    let models = use_models();
    let problems = Memo::new(move |_| models.with_list(|list| list.problems.clone()));
    let one = |problem: ModelListProblem| {
        view! {
            <li>
                <strong>{problem.message}</strong>
                <p>{problem.hint}</p>
            </li>
        }
    };
    let title = move || {
        problems.with(|problems| match problems.iter().any(is_tool_problem) {
            true if problems.iter().all(is_tool_problem) => texts::SOME_TOOLS_MISSING,
            true => texts::SOME_MODELS_AND_TOOLS_MISSING,
            false => texts::SOME_MODELS_MISSING,
        })
    };
    view! {
        <When when=move || !problems.with(Vec::is_empty)>
            <button
                type="button"
                class="icon-button model-problems"
                aria-label=title
                title=title
                popovertarget="model-problems"
            >
                {icons::alert()}
            </button>
            <div
                id="model-problems"
                class="popover"
                popover="auto"
                on:toggle=|event| browser::place_opened(&event)
            >
                <h2>{title}</h2>
                <ul>{move || problems.get().into_iter().map(one).collect_view()}</ul>
            </div>
        </When>
    }
}
