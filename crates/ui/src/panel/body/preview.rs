//! The beginnings of payloads that an answer shows. Each row has one height, as the style sheet says, so that the place for
//! them is known before they are loaded.

use leptos::prelude::*;

use super::document::diff_line;
use crate::{panel::texts, runtime::erase::Erase};
use parlor_protocol::panel::{DocumentView, TableColumn, TableView};

/// The first rows of a table.
pub fn table(table: &TableView) -> AnyView {
    let head: Vec<_> = table.columns.iter().map(heading).collect();
    let rows: Vec<_> = table.rows.iter().map(|row| cells(row, &table.columns)).collect();
    view! {
        <div class="preview-table" role="group" tabindex="0" aria-label=texts::FIRST_ROWS>
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

/// The first changes of the newest version of a document.
pub fn changes(document: &DocumentView) -> AnyView {
    let newest = document.versions.last();
    let lines: Vec<_> = newest
        .into_iter()
        .flat_map(|version| &version.changes)
        .map(diff_line)
        .collect();
    view! { <div class="diff" role="group" tabindex="0" aria-label=texts::CHANGES>{lines}</div> }.erase()
}
