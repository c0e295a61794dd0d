//! The lists of the form: the fields of the schema, and the categories.

use leptos::{ev, prelude::*};

use super::{form::FormState, texts};
use crate::{
    browser,
    components::{icon_button::IconButton, icons},
    runtime::{each::Each, erase::Erase},
};
use parlor_protocol::literature::{Category, SchemaField, SchemaFieldType, StreamForm};

/// What the article is asked for.
pub fn schema(state: FormState) -> AnyView {
    let row = move |index: usize| {
        let kind = move || {
            let kind = state
                .form
                .with(|form| form.schema.0.get(index).map(|field| field.kind));
            kind.unwrap_or_default().name()
        };
        let options: Vec<_> = SchemaFieldType::ALL
            .map(|kind| view! { <option value=kind.name()>{kind.label()}</option> })
            .into_iter()
            .collect();
        let choose = move |event: ev::Event| {
            let chosen = event_target_value(&event);
            let chosen = SchemaFieldType::ALL
                .into_iter()
                .find(|kind| kind.name() == chosen);
            state.change(|form| {
                if let (Some(field), Some(kind)) = (form.schema.0.get_mut(index), chosen) {
                    field.kind = kind;
                }
            });
        };
        view! {
            {item_text(
                state,
                texts::FIELD_NAME,
                index,
                move |form| form.schema.0.get(index).map(|field| field.name.clone()),
                move |form, text| {
                    if let Some(field) = form.schema.0.get_mut(index) {
                        field.name = text;
                    }
                },
            )}
            {item_text(
                state,
                texts::FIELD_QUESTION,
                index,
                move |form| form.schema.0.get(index).map(|field| field.question.clone()),
                move |form, text| {
                    if let Some(field) = form.schema.0.get_mut(index) {
                        field.question = text;
                    }
                },
            )}
            <select aria-label=item_name(texts::FIELD_TYPE, index) prop:value=kind on:change=choose>{options}</select>
        }
        .erase()
    };
    let add = move |_| {
        state.change(|form| {
            form.schema.0.push(SchemaField {
                name: String::new(),
                question: String::new(),
                kind: SchemaFieldType::Text,
            });
        });
    };
    list(
        "stream-schema",
        texts::SCHEMA,
        texts::SCHEMA_HELP,
        move || state.form.with(|form| form.schema.0.len()),
        row,
        move |index| {
            state.change(|form| {
                form.schema.0.remove(index);
            });
        },
        view! { <button type="button" class="button needs-script" on:click=add>{icons::plus()} {texts::ADD_FIELD}</button> }
            .erase(),
    )
}

/// The groups of articles.
pub fn categories(state: FormState) -> AnyView {
    let row = move |index: usize| {
        view! {
            {item_text(
                state,
                texts::CATEGORY_NAME,
                index,
                move |form| form.categories.0.get(index).map(|one| one.name.clone()),
                move |form, text| {
                    if let Some(one) = form.categories.0.get_mut(index) {
                        one.name = text;
                    }
                },
            )}
            {item_text(
                state,
                texts::CATEGORY_DESCRIPTION,
                index,
                move |form| form.categories.0.get(index).map(|one| one.description.clone()),
                move |form, text| {
                    if let Some(one) = form.categories.0.get_mut(index) {
                        one.description = text;
                    }
                },
            )}
        }
        .erase()
    };
    let add = move |_| {
        state.change(|form| {
            form.categories.0.push(Category {
                name: String::new(),
                description: String::new(),
            });
        });
    };
    list(
        "stream-categories",
        texts::CATEGORIES,
        texts::CATEGORIES_HELP,
        move || state.form.with(|form| form.categories.0.len()),
        row,
        move |index| {
            state.change(|form| {
                form.categories.0.remove(index);
            });
        },
        view! { <button type="button" class="button needs-script" on:click=add>{icons::plus()} {texts::ADD_CATEGORY}</button> }
            .erase(),
    )
}

/// "Question 2".
fn item_name(label: &str, index: usize) -> String {
    [label, " ", &(index + 1).to_string()].concat()
}

/// A list of the form. Its rows are known by their places: each shows the item that stands there.
fn list(
    id: &'static str,
    title: &'static str,
    help: &'static str,
    count: impl Fn() -> usize + Copy + Send + 'static,
    row: impl Fn(usize) -> AnyView + Copy + Send + 'static,
    remove: impl Fn(usize) + Copy + Send + 'static,
    add: AnyView,
) -> AnyView {
    let rows = move || (0..count()).collect::<Vec<_>>();
    view! {
        <fieldset id=id class="stream-items" tabindex="-1">
            <legend>{title}</legend>
            <p class="stream-help">{help}</p>
            <ul>
                <Each of=rows key=|index| *index as u64 let:index>
                    <li>
                        {row(index)}
                        {IconButton::new(item_name(texts::REMOVE, index), icons::trash(), move || {
                            remove(index);
                            // The button of the last row is removed.
                            browser::focus_selector(&["#", id].concat());
                        })
                        .view()}
                    </li>
                </Each>
            </ul>
            {add}
        </fieldset>
    }
    .erase()
}

/// A text of an item.
fn item_text(
    state: FormState,
    label: &'static str,
    index: usize,
    get: impl Fn(&StreamForm) -> Option<String> + Copy + Send + 'static,
    set: impl Fn(&mut StreamForm, String) + Copy + Send + 'static,
) -> AnyView {
    let value = move || state.form.with(|form| get(form).unwrap_or_default());
    let input = move |event: ev::Event| {
        let text = event_target_value(&event);
        state.change(|form| set(form, text));
    };
    view! {
        <input
            required
            dir="auto"
            autocomplete="off"
            aria-label=item_name(label, index)
            placeholder=label
            value=untrack(value)
            prop:value=value
            on:input=input
        />
    }
    .erase()
}
