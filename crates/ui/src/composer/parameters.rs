//! The model parameters: a dialog, opened from the menu next to the model picker. Few people open it, so its code is loaded on demand.

use std::sync::Arc;

use leptos::{ev, prelude::*, task::spawn_local, wasm_split::wasm_split};

use super::{texts, thinking::ThinkingFields};
use crate::{
    components::confirm::{self, use_modal},
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part},
        when::When,
    },
    state::{use_conversations, use_next_message},
};
use parlor_protocol::{ParameterInput, Parameters};

/// The dialog, while it is open.
#[component]
pub fn ParametersDialog(is_asking: RwSignal<bool>) -> impl IntoView {
    view! {
        <When when=move || is_asking.get()>{lazy_part(move || load_view(is_asking))}</When>
    }
}

/// Loads the view's code on first use.
#[wasm_split(composer, wasm_split_path = leptos::wasm_split, fallible)]
pub fn load_view(is_asking: RwSignal<bool>) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || view! { <Dialog is_asking/> }.erase()))
}

#[component]
fn Dialog(is_asking: RwSignal<bool>) -> impl IntoView {
    let (conversations, next_message) = (use_conversations(), use_next_message());
    let dialog = use_modal(|| true);
    // The values at opening: changes from other tabs do not overwrite what the user is typing.
    let here = untrack(|| conversations.current_view());
    let before = match &here {
        Some(view) => view.parameters.get_untracked().to_input(),
        None => next_message.parameters(),
    };
    let conversation_id = here.map(|view| view.id);
    let error = RwSignal::new(None::<String>);
    let input = RwSignal::new(before);
    let close = move || confirm::close_dialog(dialog);
    let save = move |event: ev::SubmitEvent| {
        event.prevent_default();
        let input = input.get_untracked();
        if let Err(wrong) = Parameters::parse(&input) {
            return error.set(Some(wrong));
        }
        let Some(id) = conversation_id else {
            next_message.set_parameters(input);
            return close();
        };
        spawn_local(async move {
            match conversations.set_parameters(id, input).await {
                Ok(()) => close(),
                Err(wrong) => drop(error.try_set(Some(wrong.message))),
            }
        });
    };
    let reset = move |_| input.set(ParameterInput::default());
    view! {
        <dialog
            node_ref=dialog
            class="dialog parameters"
            aria-labelledby="parameters-title"
            on:close=move |_| is_asking.set(false)
        >
            <form on:submit=save>
                <h2 id="parameters-title">{texts::PARAMETERS}</h2>
                <p>{texts::PARAMETERS_HINT}</p>
                <label class="field">
                    <span>{texts::TEMPERATURE}</span>
                    <input
                        type="text"
                        inputmode="decimal"
                        autocomplete="off"
                        placeholder=texts::TEMPERATURE_RANGE
                        prop:value=move || input.with(|input| input.temperature.clone())
                        on:input=move |event| {
                            input.update(|input| input.temperature = event_target_value(&event));
                        }
                    />
                </label>
                <ThinkingFields input/>
                <label class="field">
                    <span>{texts::LONGEST_ANSWER}</span>
                    <input
                        type="text"
                        inputmode="numeric"
                        autocomplete="off"
                        placeholder=texts::TOKENS
                        prop:value=move || input.with(|input| input.max_completion_tokens.clone())
                        on:input=move |event| {
                            input.update(|input| input.max_completion_tokens = event_target_value(&event));
                        }
                    />
                </label>
                <p class="field-error" role="alert">{move || error.get()}</p>
                <div class="dialog-actions">
                    <button type="button" class="button button-quiet" on:click=reset>
                        {texts::CLEAR_ALL}
                    </button>
                    <button type="button" class="button" on:click=move |_| close()>
                        {texts::CANCEL}
                    </button>
                    <button class="button button-primary">{texts::SAVE}</button>
                </div>
            </form>
        </dialog>
    }
}
