//! How the model answers, at a glance: the amount of thinking that is set, and the menu to set it. All other parameters are in a dialog
//! ([`super::parameters`]), which the menu opens.

use std::sync::Arc;

use leptos::{prelude::*, task::spawn_local, wasm_split::wasm_split};

use super::{
    texts,
    thinking::{chosen_thinking, level_label, offered_levels},
};
use crate::{
    components::{
        icons,
        menu::{ItemKind, Menu},
        toast::use_toasts,
    },
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_part},
        when::When,
    },
    state::{use_conversations, use_models, use_next_message},
};
use parlor_protocol::{ParameterInput, ThinkingChoice, ThinkingLevel};

/// The button. For a model that is known not to take a level, it opens the dialog at once.
#[component]
pub fn EffortButton(is_asking: RwSignal<bool>) -> impl IntoView {
    let (conversations, next_message, models) = (use_conversations(), use_next_message(), use_models());
    let is_set = move || match conversations.current_view() {
        Some(view) => view.parameters.with(|set| !set.is_empty()),
        None => next_message.has_parameters(),
    };
    let label = move || match is_set() {
        true => texts::PARAMETERS_CHANGED,
        false => texts::PARAMETERS,
    };
    let thinking = chosen_thinking();
    let has_levels = Memo::new(move |_| !offered_levels(&models.current_capabilities(), "").is_empty());
    let menu = Menu::new("effort");
    view! {
        <button
            type="button"
            class="icon-button effort needs-script"
            class:icon-button-marked=is_set
            aria-label=label
            title=label
            aria-haspopup=move || if has_levels.get() { "menu" } else { "dialog" }
            popovertarget=move || has_levels.get().then(|| menu.id())
            on:click=move |_| {
                if !has_levels.get_untracked() {
                    is_asking.set(true);
                }
            }
        >
            {icons::sliders()}
            <When when=move || thinking.get().is_some()>
                <span class="effort-level">{move || thinking.get().map(choice_label)}</span>
            </When>
        </button>
        {menu.view(|| texts::PARAMETERS.into(), move || lazy_part(move || load_items(menu, is_asking)))}
    }
}

/// The short name of a choice: "High", "8,000 tokens".
fn choice_label(choice: ThinkingChoice) -> String {
    match choice {
        ThinkingChoice::Level(level) => level_label(level).into(),
        ThinkingChoice::Budget(_) => choice.to_text(),
    }
}

/// Loads the menu's code on first use.
#[wasm_split(composer, wasm_split_path = leptos::wasm_split, fallible)]
pub fn load_items(menu: Menu, is_asking: RwSignal<bool>) -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || view! { <Items menu is_asking/> }.erase()))
}

#[component]
fn Items(menu: Menu, is_asking: RwSignal<bool>) -> impl IntoView {
    let (conversations, next_message, toasts) = (use_conversations(), use_next_message(), use_toasts());
    let here = untrack(|| conversations.current_view());
    let before = match &here {
        Some(view) => view.parameters.get_untracked().to_input(),
        None => next_message.parameters(),
    };
    let id = here.map(|view| view.id);
    let set_level = move |before: &ParameterInput, level: Option<ThinkingLevel>| {
        let input = ParameterInput {
            thinking_level: level.map(ThinkingLevel::as_str).unwrap_or_default().into(),
            thinking_budget: String::new(),
            ..before.clone()
        };
        let Some(id) = id else {
            return next_message.set_parameters(input);
        };
        spawn_local(async move {
            if let Err(error) = conversations.set_parameters(id, input).await {
                toasts.show(error.message);
            }
        });
    };
    let is_default = before.thinking_level.is_empty() && before.thinking_budget.is_empty();
    let level_item = |level: Option<ThinkingLevel>, is_chosen: bool| {
        let before = before.clone();
        let name = level.map_or(texts::AS_MODEL_DECIDES, level_label);
        menu.item(ItemKind::Radio(is_chosen), name, move || {
            set_level(&before, level)
        })
    };
    let capabilities = untrack(|| use_models().current_capabilities());
    let mut items = vec![level_item(None, is_default)];
    for level in offered_levels(&capabilities, &before.thinking_level) {
        items.push(level_item(Some(level), level.as_str() == before.thinking_level));
    }
    let more = ItemKind::Action(icons::sliders());
    items.push(menu.item(more, texts::MORE_SETTINGS, move || is_asking.set(true)));
    menu.items(items)
}
