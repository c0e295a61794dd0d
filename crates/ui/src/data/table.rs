//! A table: its columns, and its first rows.

use leptos::prelude::*;

use super::{load_error, state::DataState, texts};
use crate::{
    browser,
    components::icons,
    runtime::erase::Erase,
    state::{remote::Remote, tray::use_tray},
};
use parlor_protocol::{
    ErrorCode,
    data::{ColumnDetails, DataLocation, TableDetails},
};

pub fn table_view(state: DataState) -> AnyView {
    let body = move || {
        state.table.with(|table| match table {
            Remote::NotRequested | Remote::Loading => {
                view! { <p class="notice-waiting" role="status">{texts::READING_TABLE}</p> }.erase()
            }
            Remote::Ready(table) => full_table(table),
            Remote::Failed(error) => {
                if error.code == ErrorCode::NotFound {
                    browser::set_not_found();
                }
                load_error(texts::TABLE_FAILED, error, move || state.load_open_table())
            }
        })
    };
    let back = move || {
        let list = DataLocation {
            table: None,
            ..state.location.get()
        };
        list.to_url()
    };
    view! {
        <a class="button button-quiet data-back" href=back>{icons::previous()} {texts::BACK_TO_CATALOGUE}</a>
        {body}
    }
    .erase()
}

fn full_table(table: &TableDetails) -> AnyView {
    let place = texts::table_place(table.is_view, &table.database, &table.subject);
    let about = (!table.about.is_empty()).then(|| {
        view! { <p class="data-about" dir="auto">{table.about.clone()}</p> }
    });
    let columns: Vec<AnyView> = table.columns.iter().map(column_row).collect();
    view! {
        <article class="data-table">
            <h2 dir="auto">{table.name.clone()}</h2>
            <p class="data-note" dir="auto">{place}</p>
            {about}
            {ask_button()}
            <h3>{texts::COLUMNS}</h3>
            <div class="panel-table" role="region" tabindex="0" aria-label=texts::COLUMNS>
                <table>
                    <thead>
                        <tr>
                            <th scope="col">{texts::COLUMN_NAME}</th>
                            <th scope="col">{texts::COLUMN_TYPE}</th>
                            <th scope="col">{texts::COLUMN_MEANING}</th>
                            <th scope="col">{texts::COLUMN_EXAMPLES}</th>
                        </tr>
                    </thead>
                    <tbody>{columns}</tbody>
                </table>
            </div>
            <h3>{texts::FIRST_ROWS}</h3>
            {first_rows(table)}
        </article>
    }
    .erase()
}

/// Opens the chat next to the table, which is what its messages are about.
fn ask_button() -> AnyView {
    let tray = use_tray();
    let ask = move |_| {
        let was_open = untrack(|| tray.is_open());
        tray.set_open(true);
        if was_open {
            browser::focus_selector("#message");
        }
    };
    view! {
        <button type="button" class="button button-primary data-ask needs-script" on:click=ask>
            {texts::ASK_ABOUT_TABLE}
        </button>
    }
    .erase()
}

fn column_row(column: &ColumnDetails) -> AnyView {
    let mut about = column.about.clone();
    let mut add = |note: &str| {
        if !about.is_empty() {
            about.push_str(" · ");
        }
        about.push_str(note);
    };
    if column.is_key {
        add(texts::COLUMN_IS_KEY);
    }
    if let Some(to) = &column.references {
        add(&texts::column_refers_to(to));
    }
    view! {
        <tr>
            <th scope="row" dir="auto">{column.name.clone()}</th>
            <td dir="auto">{column.data_type.clone()}</td>
            <td dir="auto">{about}</td>
            <td dir="auto">{column.examples.join(", ")}</td>
        </tr>
    }
    .erase()
}

fn first_rows(table: &TableDetails) -> AnyView {
    if let Some(problem) = &table.problem {
        return view! { <p class="data-problem" role="alert">{texts::ROWS_UNREADABLE} {problem.clone()}</p> }
            .erase();
    }
    if table.rows.is_empty() {
        return view! { <p class="data-note">{texts::NO_ROWS}</p> }.erase();
    }
    let class = |column: &ColumnDetails| column.is_numeric.then_some("panel-number");
    let head: Vec<_> = table
        .columns
        .iter()
        .map(|column| view! { <th scope="col" class=class(column) dir="auto">{column.name.clone()}</th> })
        .collect();
    let cell = |(text, column): (&Option<String>, &ColumnDetails)| match text {
        Some(text) => view! { <td class=class(column) dir="auto">{text.clone()}</td> }.erase(),
        None => view! { <td class=class(column)><span class="data-null">{texts::NULL}</span></td> }.erase(),
    };
    let rows: Vec<_> = table
        .rows
        .iter()
        .map(|row| {
            let cells: Vec<_> = row.iter().zip(&table.columns).map(cell).collect();
            view! { <tr>{cells}</tr> }
        })
        .collect();
    view! {
        <div class="panel-table" role="region" tabindex="0" aria-label=texts::FIRST_ROWS>
            <table>
                <thead>
                    <tr>{head}</tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .erase()
}
