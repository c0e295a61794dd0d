//! Fields of forms that several pages have: a model, an amount of money.

use leptos::{ev, prelude::*};

use crate::{runtime::erase::Erase, state::use_models};
use parlor_protocol::Dollars;

/// A field for a model: one of the list, or none, which `none` describes.
pub fn model_field(
    (id, label, none): (&'static str, &'static str, &'static str),
    chosen: Memo<Option<String>>,
    choose: impl Fn(Option<String>) + 'static,
) -> AnyView {
    let models = use_models();
    let options = move || {
        let chosen = chosen.get();
        let mut known: Vec<(String, String)> = models.with_list(|list| {
            let models = list.models.iter();
            models
                .map(|model| (model.id.clone(), model.name.clone()))
                .collect()
        });
        // One that is not offered at present stays chosen.
        if let Some(chosen) = chosen.clone()
            && known.iter().all(|(id, _)| *id != chosen)
        {
            known.push((chosen.clone(), chosen));
        }
        let options = known.into_iter().map(|(id, name)| {
            let is_chosen = chosen.as_deref() == Some(&*id);
            view! { <option value=id selected=is_chosen>{name}</option> }.erase()
        });
        options.collect::<Vec<_>>()
    };
    let change = move |event: ev::Event| choose(Some(event_target_value(&event)).filter(|id| !id.is_empty()));
    view! {
        <div class="stream-field">
            <label for=id>{label}</label>
            <select id=id on:change=change>
                <option value="" selected=move || chosen.with(Option::is_none)>{none}</option>
                {options}
            </select>
        </div>
    }
    .erase()
}

/// A field for an amount in dollars, as it is typed. Without one, `none` describes it.
pub fn amount_field(
    (id, label, none): (&'static str, &'static str, &'static str),
    typed: RwSignal<String>,
) -> AnyView {
    view! {
        <div class="stream-field">
            <label for=id>{label}</label>
            <input
                id=id
                type="text"
                inputmode="decimal"
                autocomplete="off"
                placeholder=none
                prop:value=move || typed.get()
                on:input=move |event| typed.set(event_target_value(&event))
            />
        </div>
    }
    .erase()
}

/// Reads an amount as it is typed. Nothing typed is no limit.
pub fn read_amount(typed: &str) -> Result<Option<Dollars>, ()> {
    match typed.trim().replace(',', ".").as_str() {
        "" => Ok(None),
        amount => amount
            .parse()
            .ok()
            .and_then(Dollars::from_f64)
            .map(Some)
            .ok_or(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_typed_amounts() {
        assert_eq!(read_amount(" "), Ok(None));
        assert_eq!(read_amount("0,5"), Ok(Some(Dollars(500_000_000))));
        assert_eq!(read_amount("2"), Ok(Some(Dollars(2_000_000_000))));
        for wrong in ["-1", "a", "1e99"] {
            assert_eq!(read_amount(wrong), Err(()), "{wrong}");
        }
    }
}
