//! The lists of the form: the fields of the schema, and the categories.

use leptos::{ev, prelude::*};

use super::{form::FormState, texts};
use crate::{
    browser,
    components::{icon_button::IconButton, icons},
    runtime::{each::Each, erase::Erase},
};
use parlor_protocol::literature::{Category, SchemaField, SchemaFieldType, StreamForm};

/// One of the lists in the form.
struct ItemList<T: 'static> {
    /// The id of its element.
    id: &'static str,
    title: &'static str,
    help: &'static str,
    /// The label of the button that adds an item, and the new item.
    add: &'static str,
    new: fn() -> T,
    of: fn(&StreamForm) -> &Vec<T>,
    of_mut: fn(&mut StreamForm) -> &mut Vec<T>,
}

static SCHEMA: ItemList<SchemaField> = ItemList {
    id: "stream-schema",
    title: texts::SCHEMA,
    help: texts::SCHEMA_HELP,
    add: texts::ADD_FIELD,
    new: || SchemaField {
        name: String::new(),
        question: String::new(),
        kind: SchemaFieldType::Text,
    },
    of: |form| &form.schema.0,
    of_mut: |form| &mut form.schema.0,
};

static CATEGORIES: ItemList<Category> = ItemList {
    id: "stream-categories",
    title: texts::CATEGORIES,
    help: texts::CATEGORIES_HELP,
    add: texts::ADD_CATEGORY,
    new: || Category {
        name: String::new(),
        description: String::new(),
    },
    of: |form| &form.categories.0,
    of_mut: |form| &mut form.categories.0,
};

/// What the article is asked for.
pub fn schema(state: FormState) -> AnyView {
    list(state, &SCHEMA, move |index| {
        view! {
            {item_text(state, &SCHEMA, texts::FIELD_NAME, index, |field| &field.name, |field| &mut field.name)}
            {item_text(state, &SCHEMA, texts::FIELD_QUESTION, index, |field| &field.question, |field| &mut field.question)}
            {field_type(state, index)}
        }
        .erase()
    })
}

/// The groups of articles.
pub fn categories(state: FormState) -> AnyView {
    list(state, &CATEGORIES, move |index| {
        view! {
            {item_text(state, &CATEGORIES, texts::CATEGORY_NAME, index, |one| &one.name, |one| &mut one.name)}
            {item_text(
                state,
                &CATEGORIES,
                texts::CATEGORY_DESCRIPTION,
                index,
                |one| &one.description,
                |one| &mut one.description,
            )}
        }
        .erase()
    })
}

/// The type of a field of the schema.
fn field_type(state: FormState, index: usize) -> AnyView {
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
        <select aria-label=item_name(texts::FIELD_TYPE, index) prop:value=kind on:change=choose>{options}</select>
    }
    .erase()
}

/// "Question 2".
fn item_name(label: &str, index: usize) -> String {
    [label, " ", &(index + 1).to_string()].concat()
}

/// A list of the form. Its rows are known by their places: each shows the item that stands there.
fn list<T>(
    state: FormState,
    items: &'static ItemList<T>,
    row: impl Fn(usize) -> AnyView + Copy + Send + 'static,
) -> AnyView {
    let rows = move || {
        state
            .form
            .with(|form| (0..(items.of)(form).len()).collect::<Vec<_>>())
    };
    let add = move |_| state.change(|form| (items.of_mut)(form).push((items.new)()));
    view! {
        <fieldset id=items.id class="stream-items" tabindex="-1">
            <legend>{items.title}</legend>
            <p class="stream-help">{items.help}</p>
            <ul>
                <Each of=rows key=|index| *index as u64 let:index>
                    <li>
                        {row(index)}
                        {IconButton::new(item_name(texts::REMOVE, index), icons::trash(), move || {
                            state.change(|form| {
                                (items.of_mut)(form).remove(index);
                            });
                            // The button of the last row is removed.
                            browser::focus_selector(&["#", items.id].concat());
                        })
                        .view()}
                    </li>
                </Each>
            </ul>
            <button type="button" class="button needs-script" on:click=add>{icons::plus()} {items.add}</button>
        </fieldset>
    }
    .erase()
}

/// A text of an item.
fn item_text<T>(
    state: FormState,
    items: &'static ItemList<T>,
    label: &'static str,
    index: usize,
    get: fn(&T) -> &String,
    get_mut: fn(&mut T) -> &mut String,
) -> AnyView {
    let value = move || {
        state.form.with(|form| {
            let item = (items.of)(form).get(index);
            item.map(get).cloned().unwrap_or_default()
        })
    };
    let input = move |event: ev::Event| {
        let text = event_target_value(&event);
        state.change(|form| {
            if let Some(item) = (items.of_mut)(form).get_mut(index) {
                *get_mut(item) = text;
            }
        });
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
