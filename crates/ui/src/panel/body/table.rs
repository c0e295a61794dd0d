//! Tables: sorted by a column and filtered on request. A wide one scrolls sideways.

use std::sync::Arc;

use leptos::prelude::*;

use super::empty_notice;
use crate::{
    browser,
    columns::table_with_columns,
    grid::{Grid, GridCell, GridChoices, GridColumn, GridContent, GridRow, grid},
    markdown::{Order, sort_by_texts},
    panel::texts,
    runtime::erase::Erase,
    state::page_registry::ShownPayload,
};
use parlor_protocol::{
    columns::ColumnSource,
    number_format::group_digits,
    panel::{TableColumn, TableView},
};

/// The id of a grid with columns. The panel shows one table at a time.
pub const COLUMNS_GRID: &str = "payload-grid";
/// The number of rows shown at first.
const MAX_INITIAL_ROWS: usize = 100;
/// The number of rows from which on they can be filtered.
const MIN_FILTERED_ROWS: usize = 8;
/// The length in bytes beyond which a cell's text is wrapped in a column that is not narrow.
const MIN_LONG_BYTES: usize = 40;

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
fn table_grid(table: &TableView) -> AnyView {
    let label = table.title.clone().unwrap_or_else(|| texts::TABLE.into());
    let columns = table.columns.iter().map(|column| GridColumn {
        name: column.name.clone(),
        is_numeric: column.numeric,
        ..GridColumn::default()
    });
    let rows = table.rows.iter().map(|cells| GridRow {
        cells: cells.iter().map(|cell| GridCell::text(cell.clone())).collect(),
        words: String::new(),
    });
    let content = Arc::new(GridContent {
        columns: columns.collect(),
        rows: rows.collect(),
        label,
    });
    let id = grid_id(&content);
    let content = Memo::new(move |_| content.clone());
    let choices = GridChoices::new();
    let shown = Grid::new(id, content, choices, |_, _| {}).wrapping();
    let count = table.rows.len();
    let found = Memo::new(move |_| shown.count());
    let missing = (!table.missing.is_empty()).then(|| {
        view! { <p class="panel-count">{texts::not_shown(&table.missing)}</p> }
    });
    let nothing = move || match (count, found.get()) {
        (0, _) => Some(empty_notice(texts::NO_ROWS)),
        (_, 0) => Some(empty_notice(texts::NO_MATCHES)),
        _ => None,
    };
    view! {
        {(count >= MIN_FILTERED_ROWS).then(|| filter_field(choices.filter, found, count))}
        {grid(shown)}
        {nothing}
        {missing}
    }
    .erase()
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

/// A table's rows.
pub fn rows(table: &TableView) -> AnyView {
    let table = Arc::new(table.clone());
    let order = RwSignal::new(None::<Order>);
    let filter = RwSignal::new(String::new());
    let shows_all = RwSignal::new(table.rows.len() <= MAX_INITIAL_ROWS);
    let found = {
        let table = table.clone();
        Memo::new(move |_| find_rows(&table, &filter.get(), order.get()))
    };
    let found_count = Memo::new(move |_| found.with(Vec::len));
    let body = {
        let table = table.clone();
        move || {
            found.with(|found| {
                let max_rows = if shows_all.get() {
                    found.len()
                } else {
                    MAX_INITIAL_ROWS
                };
                let rows = found
                    .iter()
                    .take(max_rows)
                    .filter_map(|index| table.rows.get(*index));
                rows.map(|row| cells(row, &table.columns)).collect::<Vec<_>>()
            })
        }
    };
    let press = move |_| {
        shows_all.set(true);
        // The button is removed.
        browser::focus_selector(".panel-body");
    };
    let more = move || {
        let count = found.with(Vec::len);
        (!shows_all.get() && count > MAX_INITIAL_ROWS).then(|| {
            let words = texts::show_all(&group_digits(count as u64));
            view! { <button type="button" class="button panel-all" on:click=press>{words}</button> }
        })
    };
    let missing = (!table.missing.is_empty()).then(|| {
        view! { <p class="panel-count">{texts::not_shown(&table.missing)}</p> }
    });
    let head: Vec<_> = table
        .columns
        .iter()
        .enumerate()
        .map(|(index, column)| heading(index, column, order))
        .collect();
    let count = table.rows.len();
    view! {
        {(count >= MIN_FILTERED_ROWS).then(|| filter_field(filter, found_count, count))}
        <div class="panel-table" role="region" tabindex="0" aria-label=texts::TABLE>
            <table>
                <thead>
                    <tr>{head}</tr>
                </thead>
                <tbody>{body}</tbody>
            </table>
        </div>
        {more}
        {(count == 0).then(|| empty_notice(texts::NO_ROWS))}
        {missing}
    }
    .erase()
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

/// The indices of the rows that contain all words of a filter, in their order.
fn find_rows(table: &TableView, filter: &str, order: Option<Order>) -> Vec<usize> {
    let filter = filter.to_lowercase();
    let words: Vec<&str> = filter.split_whitespace().collect();
    let is_found = |row: &[String]| {
        let text = row.join("\n").to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let rows = table.rows.iter().enumerate();
    let found = rows.filter(|(_, row)| words.is_empty() || is_found(row));
    let found: Vec<usize> = found.map(|(index, _)| index).collect();
    let Some(order) = order else { return found };
    let text = |index: &usize| {
        let cell = table.rows.get(*index).and_then(|row| row.get(order.column()));
        cell.cloned().unwrap_or_default()
    };
    let texts: Vec<String> = found.iter().map(text).collect();
    sort_by_texts(found, &texts, order)
}

pub fn heading(index: usize, column: &TableColumn, order: RwSignal<Option<Order>>) -> AnyView {
    let direction = move || order.get().and_then(|order| order.direction_of(index));
    let sort = move |_| order.update(|order| *order = Order::next(*order, index));
    let name = column.name.is_empty().then_some(texts::SORT);
    view! {
        <th scope="col" class=alignment_class(column) dir="auto" aria-sort=direction>
            <button type="button" class="md-sort" aria-label=name on:click=sort>{column.name.clone()}</button>
        </th>
    }
    .erase()
}

pub fn cells(row: &[String], columns: &[TableColumn]) -> AnyView {
    let cells: Vec<_> = row
        .iter()
        .zip(columns)
        .map(|(text, column)| {
            let class = alignment_class(column).or((text.len() > MIN_LONG_BYTES).then_some("panel-long"));
            view! { <td class=class dir="auto">{text.clone()}</td> }
        })
        .collect();
    view! { <tr>{cells}</tr> }.erase()
}

pub fn alignment_class(column: &TableColumn) -> Option<&'static str> {
    column.numeric.then_some("panel-number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_by_words_and_sorts_numbers() {
        let row = |cells: [&str; 2]| cells.map(String::from).to_vec();
        let table = TableView {
            title: None,
            columns: vec![],
            rows: vec![row(["Big apple", "10"]), row(["apple", "9"]), row(["Pear", "1"])],
            missing: String::new(),
            stored_rows: None,
            has_columns: false,
        };
        let up = Order::next(None, 1);
        assert_eq!(find_rows(&table, "", None), [0, 1, 2]);
        assert_eq!(find_rows(&table, "APPLE", None), [0, 1]);
        assert_eq!(find_rows(&table, "apple big", None), [0]);
        assert_eq!(find_rows(&table, "kiwi", up), [] as [usize; 0]);
        assert_eq!(find_rows(&table, "", up), [2, 1, 0]);
        assert_eq!(find_rows(&table, "apple", Order::next(up, 1)), [0, 1]);
    }
}
