//! The model picker.

use leptos::{ev, html, prelude::*};

use crate::{
    protocol::RunError,
    ui::{
        browser, components::icons, runtime::when::When, state::models::by_endpoint,
        state::models::is_tool_problem, state::use_models,
    },
};

/// The models by endpoint, as the platform's own select list.
#[component]
pub fn ModelPicker() -> impl IntoView {
    let models = use_models();
    let select = NodeRef::<html::Select>::new();
    let chosen = Memo::new(move |_| models.current());
    let groups = Memo::new(move |_| {
        let chosen = chosen.get();
        models.with_list(|list| by_endpoint(list, chosen.as_deref()))
    });
    // Attributes only set the initial selection.
    Effect::new(move |_| {
        groups.track();
        if let (Some(select), Some(chosen)) = (select.get(), chosen.get()) {
            // The matching option may not be rendered yet.
            browser::on_next_frame(move || select.set_value(&chosen));
        }
    });
    let on_change = move |_: ev::Event| {
        if let Some(select) = select.get_untracked() {
            models.choose(select.value());
        }
    };
    let options = move || {
        let chosen = chosen.get_untracked();
        let option = |id: String, name: String| {
            let selected = chosen.as_deref() == Some(&id);
            view! { <option value=id selected=selected>{name}</option> }
        };
        let group = |(endpoint, models): (String, Vec<_>)| {
            let options: Vec<_> = models
                .into_iter()
                .map(|model: crate::protocol::model_list::ModelInfo| option(model.id, model.name))
                .collect();
            view! { <optgroup label=endpoint>{options}</optgroup> }
        };
        groups.get().into_iter().map(group).collect::<Vec<_>>()
    };
    let none = move || groups.with(Vec::is_empty);
    view! {
        <select
            node_ref=select
            class="picker"
            class:hidden=none
            name="model"
            aria-label="Model"
            on:change=on_change
            on:focus=move |_| models.refresh()
        >
            {options}
        </select>
        <When when=none>
            <span class="picker-none">"No model is connected"</span>
        </When>
    }
}

/// Endpoints whose models could not be listed: a quiet notice, with the details one click away.
#[component]
pub fn EndpointProblems() -> impl IntoView {
    let models = use_models();
    let problems = Memo::new(move |_| models.with_list(|list| list.problems.clone()));
    let one = |problem: RunError| {
        view! {
            <li>
                <strong>{problem.message}</strong>
                <p>{problem.hint}</p>
            </li>
        }
    };
    let title = move || {
        problems.with(|problems| match problems.iter().any(is_tool_problem) {
            true if problems.iter().all(is_tool_problem) => "Some tools are not available",
            true => "Some models and tools are not available",
            false => "Some models could not be listed",
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
            <div id="model-problems" class="popover" popover="auto">
                <h2>{title}</h2>
                <ul>{move || problems.get().into_iter().map(one).collect_view()}</ul>
            </div>
        </When>
    }
}
