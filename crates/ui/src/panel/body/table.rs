//! Tables: sorted by a column and filtered on request. A wide one scrolls sideways.

use std::sync::Arc;

use leptos::prelude::*;

use super::empty_notice;
use crate::{
    columns::table_with_columns,
    grid::{Grid, GridCell, GridChoices, GridColumn, GridContent, GridRow, grid},
    panel::texts,
    runtime::erase::Erase,
    state::page_registry::ShownPayload,
};
use parlor_protocol::{columns::ColumnSource, number_format::group_digits, panel::TableView};

/// The id of a grid with columns. The panel shows one table at a time.
pub const COLUMNS_GRID: &str = "payload-grid";
/// The number of rows from which on they can be filtered.
const MIN_FILTERED_ROWS: usize = 8;

/// A table with its title.
pub fn table(table: &TableView) -> AnyView {
    view! {
        {title(table)}
        {table_grid(table)}
    }
    .erase()
}

/// A table of the user, to which columns can be added.
pub fn own_table(payload: &ShownPayload, table: &TableView) -> AnyView {
    let source = ColumnSource::payload(payload.conversation_id, &*payload.payload.payload_id);
    let plain = Arc::new(table.clone());
    view! {
        {title(table)}
        {table_with_columns(COLUMNS_GRID, source, table.has_columns, move || table_grid(&plain))}
    }
    .erase()
}

pub fn title(table: &TableView) -> Option<AnyView> {
    let title = table.title.clone()?;
    Some(view! { <p class="panel-about" dir="auto">{title}</p> }.erase())
}

/// The rows in a grid.
pub fn table_grid(table: &TableView) -> AnyView {
    let content = Arc::new(grid_content(table, table.rows.clone()));
    let id = grid_id(&content);
    let content = Memo::new(move |_| content.clone());
    let choices = GridChoices::new();
    let shown = Grid::new(id, content, choices, |_, _| {}).wrapping();
    let count = table.rows.len();
    let found = Memo::new(move |_| shown.count());
    let nothing = move || match (count, found.get()) {
        (0, _) => Some(empty_notice(texts::NO_ROWS)),
        (_, 0) => Some(empty_notice(texts::NO_MATCHES)),
        _ => None,
    };
    view! {
        {(count >= MIN_FILTERED_ROWS).then(|| filter_field(choices.filter, found, count))}
        {grid(shown)}
        {nothing}
        {missing_notice(table)}
    }
    .erase()
}

/// Returns rows of a table as the content of a grid.
pub fn grid_content(table: &TableView, rows: Vec<Vec<String>>) -> GridContent {
    let columns = table.columns.iter().map(|column| GridColumn {
        name: column.name.clone(),
        is_numeric: column.numeric,
        ..GridColumn::default()
    });
    let rows = rows.into_iter().map(|cells| GridRow {
        cells: cells.into_iter().map(GridCell::text).collect(),
        words: String::new(),
    });
    GridContent {
        label: table.title.clone().unwrap_or_else(|| texts::TABLE.into()),
        columns: columns.collect(),
        rows: rows.collect(),
        page: None,
    }
}

/// Says what of the table the page does not have.
pub fn missing_notice(table: &TableView) -> Option<AnyView> {
    let words = (!table.missing.is_empty()).then(|| texts::not_shown(&table.missing))?;
    Some(view! { <p class="panel-count">{words}</p> }.erase())
}

/// Returns an id that the server and the browser make alike: of the content, since a page may show several tables.
fn grid_id(content: &GridContent) -> String {
    let names = content.columns.iter().map(|column| &column.name);
    let cells = content
        .rows
        .iter()
        .take(3)
        .flat_map(|row| &row.cells)
        .map(|cell| &cell.text);
    let mut hash = content.rows.len() as u32;
    for text in [&content.label].into_iter().chain(names).chain(cells) {
        for byte in text.bytes() {
            hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }
    ["table", &hash.to_string()].concat()
}

fn filter_field(filter: RwSignal<String>, found: Memo<usize>, count: usize) -> AnyView {
    let result = move || {
        let is_filtered = filter.with(|filter| !filter.trim().is_empty());
        let shown = group_digits(found.get() as u64);
        is_filtered.then(|| texts::rows_of(&shown, &group_digits(count as u64)))
    };
    view! {
        <div class="panel-tools needs-script">
            {filter_input(filter)}
            <span class="panel-count" role="status">{result}</span>
        </div>
    }
    .erase()
}

pub fn filter_input(filter: RwSignal<String>) -> AnyView {
    view! {
        <input
            type="search"
            class="panel-filter"
            placeholder=texts::FILTER_ROWS
            aria-label=texts::FILTER_ROWS
            on:input=move |event| filter.set(event_target_value(&event))
        />
    }
    .erase()
}
