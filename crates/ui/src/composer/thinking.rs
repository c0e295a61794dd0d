//! The choice of the amount of thinking, as the chosen model takes it.

use std::sync::Arc;

use leptos::{prelude::*, wasm_split::wasm_split};

use super::texts;
use crate::{
    runtime::{
        erase::Erase,
        lazy::{LazyView, LoadError, lazy_optional},
        signal::after_hydration,
        when::When,
    },
    state::{use_conversations, use_models, use_next_message},
};
use parlor_protocol::{
    ModelCapabilities, ParameterInput, Parameters, ThinkingChoice, ThinkingLevel, ThinkingSupport,
    number_format::group_digits,
};

/// The levels to offer for a model of which nothing is known.
const USUAL_LEVELS: [ThinkingLevel; 5] = [
    ThinkingLevel::Off,
    ThinkingLevel::Minimal,
    ThinkingLevel::Low,
    ThinkingLevel::Medium,
    ThinkingLevel::High,
];

/// A note if the chosen model does not take the thinking that is set here. It is not needed for the first paint: its
/// code is loaded after the page.
#[component]
pub fn ThinkingNote() -> impl IntoView {
    let (is_hydrated, chosen) = (after_hydration(), chosen_thinking());
    view! {
        <When when=move || is_hydrated.get() && chosen.get().is_some()>{lazy_optional(load_view)}</When>
    }
}

/// The thinking that is set here: of the shown conversation, or for a new one.
pub fn chosen_thinking() -> Memo<Option<ThinkingChoice>> {
    let (conversations, next_message) = (use_conversations(), use_next_message());
    Memo::new(move |_| match conversations.current_view() {
        Some(view) => view.parameters.with(Parameters::thinking),
        None => next_message.thinking(),
    })
}

/// Loads the view's code on first use.
#[wasm_split(composer, wasm_split_path = leptos::wasm_split, fallible)]
pub fn load_view() -> Result<LazyView, LoadError> {
    Ok(Arc::new(move || view! { <Note/> }.erase()))
}

#[component]
fn Note() -> impl IntoView {
    let (models, chosen) = (use_models(), chosen_thinking());
    let note = Memo::new(move |_| {
        let thinking = models.current_capabilities().thinking?;
        fallback_note(&models.current_name()?, &thinking, chosen.get()?)
    });
    view! {
        <div role="status">
            {move || note.get().map(|note| view! { <p class="composer-note">{note}</p> }.erase())}
        </div>
    }
}

/// Returns the note about a choice that a model does not take; `None` if it takes the choice.
fn fallback_note(model: &str, thinking: &ThinkingSupport, choice: ThinkingChoice) -> Option<String> {
    let closest = thinking.closest(choice);
    if closest == Some(choice) || (!thinking.supported && choice == ThinkingChoice::Level(ThinkingLevel::Off))
    {
        return None;
    }
    let choice = choice.to_text();
    Some(match closest {
        Some(closest) => texts::thinks_otherwise(model, &choice, &closest.to_text()),
        None => texts::thinking_not_sent(model, &choice, thinking.supported),
    })
}

/// The fields for the thinking in the parameters dialog: a level, or a budget if the model takes one.
#[component]
pub fn ThinkingFields(input: RwSignal<ParameterInput>) -> impl IntoView {
    let models = use_models();
    let capabilities = Memo::new(move |_| models.current_capabilities());
    let name = move || models.current_name().unwrap_or_default();
    let set_level = move |level: String| {
        input.update(|input| {
            input.thinking_level = level;
            input.thinking_budget.clear();
        });
    };
    let level_field = move || {
        let set = input.with_untracked(|input| input.thinking_level.clone());
        let offered = capabilities.with(|capabilities| offered_levels(capabilities, &set));
        if offered.is_empty() {
            return None;
        }
        let options: Vec<_> = offered
            .into_iter()
            .map(|level| {
                let name = level.as_str();
                view! { <option value=name selected=set == name>{level_label(level)}</option> }.erase()
            })
            .collect();
        let field = view! {
            <label class="field">
                <span>{texts::THINKING}</span>
                <select
                    prop:value=move || input.with(|input| input.thinking_level.clone())
                    on:change=move |event| set_level(event_target_value(&event))
                >
                    <option value="">{texts::MODEL_DEFAULT}</option>
                    {options}
                </select>
            </label>
        };
        Some(field.erase())
    };
    let budget_field = move || {
        let set = input.with_untracked(|input| !input.thinking_budget.is_empty());
        let range = capabilities.with(|capabilities| capabilities.thinking.as_ref()?.budget_range());
        let placeholder = match range {
            Some((min, max)) => texts::budget_range(&group_digits(min as u64), &group_digits(max as u64)),
            None if set => texts::TOKENS.into(),
            None => return None,
        };
        let field = view! {
            <label class="field">
                <span>{texts::THINKING_BUDGET}</span>
                <input
                    type="text"
                    inputmode="numeric"
                    autocomplete="off"
                    placeholder=placeholder
                    prop:value=move || input.with(|input| input.thinking_budget.clone())
                    on:input=move |event| {
                        let budget = event_target_value(&event);
                        input.update(|input| {
                            input.thinking_budget = budget;
                            input.thinking_level.clear();
                        });
                    }
                />
            </label>
        };
        Some(field.erase())
    };
    let note = move || {
        let model = name();
        capabilities.with(|capabilities| match &capabilities.thinking {
            Some(thinking) if !thinking.supported => Some(texts::cannot_think(&model)),
            Some(thinking) if thinking.levels.is_empty() && thinking.budget_range().is_none() => {
                Some(texts::decides_thinking(&model))
            }
            Some(_) => None,
            None => Some(texts::thinking_unknown(&model)),
        })
    };
    view! {
        {level_field}
        {budget_field}
        {move || note().map(|note| view! { <p class="field-note">{note}</p> }.erase())}
    }
}

/// Returns the levels to offer. One that is set stays, so that it can be seen and changed.
pub fn offered_levels(capabilities: &ModelCapabilities, set: &str) -> Vec<ThinkingLevel> {
    let taken = match &capabilities.thinking {
        Some(thinking) => thinking.levels.clone(),
        None => USUAL_LEVELS.to_vec(),
    };
    let all = ThinkingLevel::ALL.into_iter();
    all.filter(|level| taken.contains(level) || level.as_str() == set)
        .collect()
}

/// The name of a level on the page.
pub fn level_label(level: ThinkingLevel) -> &'static str {
    match level {
        ThinkingLevel::Off => texts::OFF,
        ThinkingLevel::On => texts::ON,
        ThinkingLevel::Minimal => texts::MINIMAL,
        ThinkingLevel::Low => texts::LOW,
        ThinkingLevel::Medium => texts::MEDIUM,
        ThinkingLevel::High => texts::HIGH,
        ThinkingLevel::XHigh => texts::EXTRA_HIGH,
        ThinkingLevel::Max => texts::MAXIMUM,
    }
}

#[cfg(test)]
mod tests {
    use super::{ThinkingLevel::*, *};

    #[test]
    fn offers_supported_levels_and_the_one_set() {
        let offered = |thinking, set| {
            let capabilities = ModelCapabilities {
                thinking,
                ..ModelCapabilities::default()
            };
            offered_levels(&capabilities, set)
        };
        assert_eq!(offered(None, ""), USUAL_LEVELS);
        let switch = Some(ThinkingSupport::levels(&[Off, On]));
        assert_eq!(offered(switch.clone(), ""), [Off, On]);
        assert_eq!(offered(switch, "high"), [Off, On, High]);
        assert_eq!(offered(Some(ThinkingSupport::NONE), ""), []);
    }

    #[test]
    fn names_the_level_used_instead() {
        let note = |thinking: &ThinkingSupport, choice| fallback_note("M", thinking, choice);
        let high = ThinkingChoice::Level(High);
        let budget = ThinkingSupport::budget(1024, 32_000, true);
        assert_eq!(note(&ThinkingSupport::levels(&[Low, High]), high), None);
        assert_eq!(
            note(&budget, high).unwrap(),
            "M does not take the thinking “high”. It gets “24,000 tokens”."
        );
        assert_eq!(
            note(&ThinkingSupport::NONE, high).unwrap(),
            "M can’t think. The thinking “high” is not sent."
        );
        assert_eq!(note(&ThinkingSupport::NONE, ThinkingChoice::Level(Off)), None);
        assert!(
            note(&ThinkingSupport::levels(&[]), high)
                .unwrap()
                .contains("decides alone")
        );
    }
}
