//! Tables. A wide one scrolls inside of itself.

use leptos::prelude::*;

use super::{beginning, nothing};
use crate::{
    protocol::panel::{Column, Table},
    ui::erase::Erase,
};

/// How many rows are shown at first.
const FIRST: usize = 100;

/// A table, with its title.
pub fn table(table: &Table) -> AnyView {
    let title = table.title.clone();
    view! {
        {title.map(|title| view! { <p class="panel-about" dir="auto">{title}</p> })}
        {rows(table)}
    }
    .erase()
}

/// A table's rows.
pub fn rows(table: &Table) -> AnyView {
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
        {beginning(table.rows.clone(), FIRST, show)}
        {table.rows.is_empty().then(|| nothing("There are no rows."))}
        {missing}
    }
    .erase()
}

fn heading(column: &Column) -> AnyView {
    // One without words is a heading of nothing.
    if column.name.is_empty() {
        return view! { <td></td> }.erase();
    }
    view! { <th scope="col" class=class(column) dir="auto">{column.name.clone()}</th> }.erase()
}

fn cells(row: &[String], columns: &[Column]) -> AnyView {
    let cells: Vec<_> = row
        .iter()
        .zip(columns)
        .map(|(text, column)| view! { <td class=class(column) dir="auto">{text.clone()}</td> })
        .collect();
    view! { <tr>{cells}</tr> }.erase()
}

fn class(column: &Column) -> Option<&'static str> {
    column.numeric.then_some("panel-number")
}
