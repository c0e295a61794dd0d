//! The dialog of a column: its name, its question and the type of its answers.

use leptos::{ev, prelude::*};

use super::{ColumnsState, texts};
use crate::{components::icons, runtime::erase::Erase};
use parlor_protocol::{
    ColumnId,
    columns::{Column, ColumnQuestion, ColumnType},
};

/// The form on the screen.
#[derive(Clone, Copy)]
struct FormState {
    name: RwSignal<String>,
    question: RwSignal<String>,
    kind: RwSignal<ColumnType>,
    choices: RwSignal<String>,
    asks_again: RwSignal<bool>,
    is_saving: RwSignal<bool>,
    error: RwSignal<Option<String>>,
}

/// The form of a column, by its number, or of a new one.
pub fn column_form(
    state: ColumnsState,
    number: Option<usize>,
    close: impl Fn() + Copy + Send + Sync + 'static,
) -> AnyView {
    let known = number.and_then(|number| state.column(number));
    let column = known.clone().unwrap_or_else(|| Column {
        id: ColumnId::new(),
        name: String::new(),
        question: ColumnQuestion {
            question: String::new(),
            kind: ColumnType::Text,
            choices: Vec::new(),
            revision: 0,
        },
    });
    let form = FormState {
        name: RwSignal::new(column.name.clone()),
        question: RwSignal::new(column.question.question.clone()),
        kind: RwSignal::new(column.question.kind),
        choices: RwSignal::new(column.question.choices.join("\n")),
        asks_again: RwSignal::new(false),
        is_saving: RwSignal::new(false),
        error: RwSignal::new(None),
    };
    let (id, revision) = (column.id, column.question.revision);
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        if form.is_saving.get_untracked() {
            return;
        }
        form.is_saving.set(true);
        let choices = form.choices.get_untracked();
        let column = Column {
            id,
            name: form.name.get_untracked(),
            question: ColumnQuestion {
                question: form.question.get_untracked(),
                kind: form.kind.get_untracked(),
                choices: choices.lines().map(str::to_owned).collect(),
                revision: revision.saturating_add(u32::from(form.asks_again.get_untracked())),
            },
        };
        state.save(column, move |saved| {
            // The dialog may be closed by now.
            let is_here = form.is_saving.try_set(false).is_none();
            match saved {
                Ok(()) if is_here => close(),
                Ok(()) => {}
                Err(message) => drop(form.error.try_set(Some(message))),
            }
        });
    };
    let title = match known {
        Some(_) => texts::EDIT_TITLE,
        None => texts::NEW_TITLE,
    };
    let delete = known.clone().map(|column| {
        view! {
            <button type="button" class="button button-quiet" on:click=move |_| {
                close();
                state.delete(&column);
            }>{icons::trash()} {texts::DELETE}</button>
        }
    });
    let again = known.map(|_| {
        view! {
            <label class="columns-again">
                <input
                    type="checkbox"
                    prop:checked=move || form.asks_again.get()
                    on:change=move |event| form.asks_again.set(event_target_checked(&event))
                />
                {texts::ASK_AGAIN}
            </label>
            <p class="stream-help">{texts::ASK_AGAIN_HELP}</p>
        }
    });
    view! {
        <form class="stream-form" on:submit=submit>
            <h2 id="columns-dialog-title">{title}</h2>
            {fields(form)}
            {again}
            <div role="alert" class="project-alarm">{move || form.error.get()}</div>
            <div class="dialog-actions">
                {delete}
                <button type="button" class="button" on:click=move |_| close()>{texts::CANCEL}</button>
                <button class="button button-primary" aria-disabled=move || form.is_saving.get().then_some("true")>{texts::SAVE}</button>
            </div>
        </form>
    }
    .erase()
}

fn fields(form: FormState) -> AnyView {
    let options = texts::TYPES
        .into_iter()
        .enumerate()
        .map(|(number, (kind, name))| {
            let is_chosen = move || form.kind.get() == kind;
            view! { <option value=number.to_string() selected=is_chosen>{name}</option> }.erase()
        });
    let options: Vec<_> = options.collect();
    let choose = move |event: ev::Event| {
        let number: Option<usize> = event_target_value(&event).parse().ok();
        if let Some((kind, _)) = number.and_then(|number| texts::TYPES.get(number)) {
            form.kind.set(*kind);
        }
    };
    let choices = move || {
        (form.kind.get() == ColumnType::Choice).then(|| {
            view! {
                <div class="stream-field">
                    <label for="column-choices">{texts::CHOICES}</label>
                    <textarea
                        id="column-choices"
                        rows="3"
                        dir="auto"
                        prop:value=move || form.choices.get()
                        on:input=move |event| form.choices.set(event_target_value(&event))
                    ></textarea>
                </div>
            }
        })
    };
    view! {
        <div class="stream-field">
            <label for="column-name">{texts::NAME}</label>
            <input
                id="column-name"
                required
                autofocus
                autocomplete="off"
                dir="auto"
                prop:value=move || form.name.get()
                on:input=move |event| form.name.set(event_target_value(&event))
            />
        </div>
        <div class="stream-field">
            <label for="column-question">{texts::QUESTION}</label>
            <textarea
                id="column-question"
                required
                rows="2"
                dir="auto"
                placeholder=texts::QUESTION_PLACEHOLDER
                prop:value=move || form.question.get()
                on:input=move |event| form.question.set(event_target_value(&event))
            ></textarea>
        </div>
        <div class="stream-field">
            <label for="column-type">{texts::TYPE}</label>
            <select id="column-type" on:change=choose>{options}</select>
        </div>
        {choices}
    }
    .erase()
}
