//! The columns of a table: a button that shows its rows in the grid, with the person's columns.

use std::sync::Arc;

use leptos::{prelude::*, task::spawn_local};

use super::{BaseRow, BaseRows, ColumnsState, columns_grid, texts};
use crate::{
    api::columns as rpc,
    components::icons,
    grid::{GridCell, GridChoices, GridColumn, GridRow},
    runtime::erase::Erase,
    state::{remote::Remote, use_connection},
};
use parlor_protocol::{
    columns::{ColumnSource, SourceTable},
    number_format::group_digits,
};

/// A table that can have columns: as `plain` shows it, or in the grid. `id` is that of the grid's element.
pub fn table_with_columns(
    id: &'static str,
    source: ColumnSource,
    has_columns: bool,
    plain: impl Fn() -> AnyView + Send + 'static,
) -> AnyView {
    let is_shown = RwSignal::new(has_columns);
    let source = StoredValue::new(source);
    let body = move || match is_shown.get() {
        true => loaded_grid(id, source.get_value()),
        false => plain(),
    };
    view! {
        <div class="columns-bar needs-script">
            <button
                type="button"
                class="button"
                title=texts::COLUMNS_HELP
                aria-pressed=move || is_shown.get().to_string()
                on:click=move |_| is_shown.update(|is_shown| *is_shown = !*is_shown)
            >
                {icons::table()} {texts::COLUMNS}
            </button>
        </div>
        {body}
    }
    .erase()
}

fn loaded_grid(id: &'static str, source: ColumnSource) -> AnyView {
    let connection = use_connection();
    let loaded = RwSignal::new(Remote::Loading);
    let source = StoredValue::new(source);
    let load = move || {
        loaded.set(Remote::Loading);
        spawn_local(async move {
            let Some(source) = source.try_get_value() else {
                return;
            };
            let table = connection.call(rpc::column_rows(source)).await;
            // Something else may be shown by now.
            loaded.try_set(table.into());
        });
    };
    load();
    let body = move || {
        loaded.with(|loaded| match loaded {
            Remote::Ready(table) => table_grid(id, source.get_value(), table),
            Remote::Failed(error) => view! {
                <div class="notice" role="alert">
                    <h3>{texts::ROWS_FAILED}</h3>
                    <p>{error.message.clone()}</p>
                    <button type="button" class="button" on:click=move |_| load()>{texts::TRY_AGAIN}</button>
                </div>
            }
            .erase(),
            _ => view! { <div class="notice notice-waiting" role="status">{texts::LOADING}</div> }.erase(),
        })
    };
    body.erase()
}

fn table_grid(id: &'static str, source: ColumnSource, table: &SourceTable) -> AnyView {
    let base = Arc::new(base_rows(table));
    let base = Memo::new(move |_| base.clone());
    let columns = ColumnsState::new(id, source, base, |_, _| None);
    columns.start();
    let choices = GridChoices::new();
    let left_out = (table.left_out > 0).then(|| {
        let count = group_digits(table.left_out as u64);
        view! { <p class="panel-count">{texts::rows_left_out(&count)}</p> }
    });
    view! {
        <div class="panel-tools needs-script">
            <input
                type="search"
                class="panel-filter"
                placeholder=texts::FILTER_ROWS
                aria-label=texts::FILTER_ROWS
                on:input=move |event| choices.filter.set(event_target_value(&event))
            />
        </div>
        {columns_grid(columns, choices)}
        {left_out}
    }
    .erase()
}

fn base_rows(table: &SourceTable) -> BaseRows {
    let columns = table.columns.iter().map(|column| GridColumn {
        name: column.name.clone(),
        is_numeric: column.numeric,
        ..GridColumn::default()
    });
    let rows = table.rows.iter().enumerate().map(|(index, cells)| BaseRow {
        key: (index + 1).to_string(),
        row: GridRow {
            cells: cells.iter().map(|cell| GridCell::text(cell.clone())).collect(),
            words: String::new(),
        },
    });
    BaseRows {
        label: table.title.clone(),
        lead: table.columns.len(),
        columns: columns.collect(),
        rows: rows.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::panel::TableColumn;

    #[test]
    fn rows_are_counted_from_one() {
        let table = SourceTable {
            title: "Ships".into(),
            columns: vec![TableColumn {
                name: "Year".into(),
                numeric: true,
            }],
            rows: vec![vec!["1628".into()], vec!["1765".into()]],
            left_out: 0,
        };
        let base = base_rows(&table);
        let keys: Vec<&str> = base.rows.iter().map(|row| row.key.as_str()).collect();
        assert_eq!(keys, ["1", "2"]);
        assert!(base.columns[0].is_numeric);
        assert_eq!((base.lead, base.rows[1].row.cells[0].text.as_str()), (1, "1765"));
    }
}
