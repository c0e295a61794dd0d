//! Tables. A wide one scrolls sideways.

use leptos::prelude::*;

use super::{empty_notice, expandable_list};
use crate::{protocol::panel::TableColumn, protocol::panel::TableView, ui::runtime::erase::Erase};

/// The number of rows shown at first.
const MAX_INITIAL_ROWS: usize = 100;

/// A table with its title.
pub fn table(table: &TableView) -> AnyView {
    let title = table.title.clone();
    view! {
        {title.map(|title| view! { <p class="panel-about" dir="auto">{title}</p> })}
        {rows(table)}
    }
    .erase()
}

/// A table's rows.
pub fn rows(table: &TableView) -> AnyView {
    let columns = table.columns.clone();
    let show = move |rows: &[Vec<String>]| {
        let head: Vec<_> = columns.iter().map(heading).collect();
        let rows: Vec<_> = rows.iter().map(|row| cells(row, &columns)).collect();
        view! {
            <div class="panel-table" role="region" tabindex="0" aria-label="Table">
                <table>
                    <thead>
                        <tr>{head}</tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        }
        .erase()
    };
    let missing = table.missing.clone();
    let missing = (!missing.is_empty()).then(|| {
        view! { <p class="panel-count">{["Not shown here: ", &missing].concat()}</p> }
    });
    view! {
        {expandable_list(table.rows.clone(), MAX_INITIAL_ROWS, show)}
        {table.rows.is_empty().then(|| empty_notice("There are no rows."))}
        {missing}
    }
    .erase()
}

fn heading(column: &TableColumn) -> AnyView {
    // A column without a name must not be a heading.
    if column.name.is_empty() {
        return view! { <td></td> }.erase();
    }
    view! { <th scope="col" class=alignment_class(column) dir="auto">{column.name.clone()}</th> }.erase()
}

fn cells(row: &[String], columns: &[TableColumn]) -> AnyView {
    let cells: Vec<_> = row
        .iter()
        .zip(columns)
        .map(|(text, column)| view! { <td class=alignment_class(column) dir="auto">{text.clone()}</td> })
        .collect();
    view! { <tr>{cells}</tr> }.erase()
}

fn alignment_class(column: &TableColumn) -> Option<&'static str> {
    column.numeric.then_some("panel-number")
}
