//! The dialog of a cell: the model's answer with its passage, and the person's correction.

use leptos::{ev, prelude::*, task::spawn_local};

use super::{ColumnsState, OpenDialog, texts};
use crate::{runtime::erase::Erase, state::remote::Remote};
use parlor_protocol::{
    Passage,
    columns::{CellDetails, CellState, Column, ColumnType},
};

pub fn cell_form(
    state: ColumnsState,
    row: String,
    number: usize,
    close: impl Fn() + Copy + Send + Sync + 'static,
) -> AnyView {
    let Some(column) = state.column(number) else {
        return ().into_any();
    };
    let details = RwSignal::new(Remote::Loading);
    let (id, key) = (column.id, row.clone());
    spawn_local(async move {
        let loaded = state.cell(id, key).await;
        // The dialog may be closed by now.
        details.try_set(loaded.into());
    });
    let name = state.base.with_untracked(|base| {
        let named = base.rows.iter().find(|known| known.key == row);
        let cell = named.and_then(|named| named.row.cells.first());
        cell.map(|cell| cell.text.clone()).unwrap_or_default()
    });
    let question = column.question.question.clone();
    let title = column.name.clone();
    let column = StoredValue::new(column);
    let row = StoredValue::new(row);
    let body = move || {
        details.with(|details| match details {
            Remote::Ready(details) => view! {
                {answer(state, &row.get_value(), details)}
                {correction(state, (column.get_value(), row.get_value()), details, close)}
            }
            .erase(),
            Remote::Failed(error) => view! { <p role="alert">{error.message.clone()}</p> }.erase(),
            _ => view! { <p role="status">{texts::LOADING}</p> }.erase(),
        })
    };
    // The dialog stays open, with another content.
    let edit = move |_| state.dialog.set(Some(OpenDialog::Column(Some(number))));
    view! {
        <div class="columns-cell">
            <h2 id="columns-dialog-title" dir="auto">{title}</h2>
            <p class="stream-help" dir="auto">{name}</p>
            <p dir="auto">{question}</p>
            {body}
            <div class="dialog-actions">
                <button type="button" class="button button-quiet" on:click=edit>{texts::CHANGE_QUESTION}</button>
                <button type="button" class="button" autofocus on:click=move |_| close()>{texts::CLOSE}</button>
            </div>
        </div>
    }
    .erase()
}

/// The model's answer.
fn answer(state: ColumnsState, row: &str, details: &CellDetails) -> AnyView {
    let value = match &details.state {
        CellState::Answered { value, .. } => value.clone(),
        CellState::NoAnswer => texts::NOT_IN_TEXT.into(),
        CellState::NoText => texts::HAS_NO_TEXT.into(),
        CellState::Failed { reason } => reason.clone(),
        CellState::Empty => texts::NOT_ASKED.into(),
    };
    let passage = details.passage.as_ref().map(|passage| match passage {
        Passage::Found(found) => {
            let url = (state.passage_url)(row, &found.text);
            let link = url.map(|url| view! { <p><a href=url>{texts::OPEN_PASSAGE}</a></p> });
            view! {
                <h3>{texts::PASSAGE}</h3>
                <blockquote dir="auto">{found.text.clone()}</blockquote>
                {link}
            }
            .erase()
        }
        Passage::NotFound { quote } if quote.is_empty() => {
            view! { <p class="report-unsupported">{texts::QUOTES_NOTHING}</p> }.erase()
        }
        Passage::NotFound { quote } => view! {
            <p class="report-unsupported">{texts::QUOTES_WRONGLY}</p>
            <blockquote dir="auto">{quote.clone()}</blockquote>
        }
        .erase(),
    });
    let model = Some(details.model.as_str()).filter(|model| !model.is_empty());
    let model = model.map(|model| view! { <p class="entry-meta">{texts::answered_by(model)}</p> });
    view! {
        <h3>{texts::MODEL_SAYS}</h3>
        <p dir="auto">{value}</p>
        {passage}
        {model}
    }
    .erase()
}

/// The person's answer.
fn correction(
    state: ColumnsState,
    (column, row): (Column, String),
    details: &CellDetails,
    close: impl Fn() + Copy + Send + Sync + 'static,
) -> AnyView {
    let known = details
        .correction
        .as_ref()
        .map(|correction| correction.value.clone());
    let answered = match &details.state {
        CellState::Answered { value, .. } => value.clone(),
        _ => String::new(),
    };
    let value = RwSignal::new(known.clone().unwrap_or(answered));
    let error = RwSignal::new(None::<String>);
    let cell = StoredValue::new((column.id, row));
    let send = move |value: Option<String>| {
        state.correct(cell.get_value(), value, move |sent| match sent {
            // The dialog may be closed by now.
            Ok(()) if !error.is_disposed() => close(),
            Ok(()) => {}
            Err(message) => drop(error.try_set(Some(message))),
        });
    };
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        send(Some(value.get_untracked()));
    };
    let take_back = known.map(|_| {
        view! { <button type="button" class="button" on:click=move |_| send(None)>{texts::TAKE_BACK}</button> }
    });
    view! {
        <form class="stream-form" on:submit=submit>
            <div class="stream-field">
                <label for="column-correction">{texts::YOUR_ANSWER}</label>
                {value_field(&column, value)}
            </div>
            <p class="stream-help">{texts::YOUR_ANSWER_HELP}</p>
            <div role="alert" class="project-alarm">{move || error.get()}</div>
            <div class="columns-bar">
                <button class="button button-primary">{texts::CORRECT}</button>
                {take_back}
            </div>
        </form>
    }
    .erase()
}

fn value_field(column: &Column, value: RwSignal<String>) -> AnyView {
    let choices = match column.question.kind {
        ColumnType::Text | ColumnType::Number => {
            let mode = (column.question.kind == ColumnType::Number).then_some("decimal");
            return view! {
                <input
                    id="column-correction"
                    type="text"
                    inputmode=mode
                    autocomplete="off"
                    dir="auto"
                    prop:value=move || value.get()
                    on:input=move |event| value.set(event_target_value(&event))
                />
            }
            .erase();
        }
        ColumnType::YesNo => vec![texts::YES.to_owned(), texts::NO.to_owned()],
        ColumnType::Choice => column.question.choices.clone(),
    };
    let options = choices.into_iter().map(|choice| {
        let chosen = choice.clone();
        let is_chosen = move || value.with(|value| *value == chosen);
        view! { <option value=choice.clone() selected=is_chosen>{choice.clone()}</option> }.erase()
    });
    let options: Vec<_> = options.collect();
    view! {
        <select id="column-correction" on:change=move |event| value.set(event_target_value(&event))>
            <option value="" selected=move || value.with(String::is_empty)>{texts::NO_VALUE}</option>
            {options}
        </select>
    }
    .erase()
}
