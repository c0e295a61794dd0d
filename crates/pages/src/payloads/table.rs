//! `table`: `{title?, columns: […], rows: [[…]]}`. Rows may also be objects, which then name the columns.

use std::iter;

use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;

use super::formatting::{Line, format_count, format_line};
use parlor_protocol::panel::{MAX_TABLE_CELLS, NULL_TEXT, PanelBody, TableColumn, TableView};

/// The maximum number of columns that are shown.
pub const MAX_COLUMNS: usize = 64;

/// The maximum number of cells in a file. Short rows are padded to the longest, so small data can become a
/// huge table.
const MAX_FILE_CELLS: usize = 400_000;

#[derive(Deserialize)]
struct TableData {
    #[serde(default)]
    title: Line,
    #[serde(default)]
    columns: Vec<Line>,
    /// The columns of numbers, if they are known: a long decimal number is a text in JSON.
    #[serde(default)]
    numeric: Vec<bool>,
    /// The types of the columns; only of a query's result, whose missing values are shown.
    #[serde(default)]
    types: Vec<IgnoredAny>,
    /// True if the rows are only the first ones.
    #[serde(default)]
    is_cut: bool,
    /// The file with all rows, if these are only the first ones.
    #[serde(default)]
    stored: Option<StoredFile>,
    rows: Vec<Value>,
}

#[derive(Deserialize)]
struct StoredFile {
    /// The number of all rows.
    rows: u64,
}

pub fn read(data: &Value) -> Option<PanelBody> {
    let TableData {
        title,
        columns,
        numeric,
        types,
        is_cut,
        stored,
        rows,
    } = TableData::deserialize(data).ok()?;
    let rows = TableRows::collect(column_names(columns, &rows)?, &rows, MAX_COLUMNS, MAX_TABLE_CELLS);
    let format: fn(&Value) -> String = match types.is_empty() {
        true => format_line,
        false => format_value,
    };
    let mut table = rows.into_table(title.0, format);
    for (column, is_numeric) in table.columns.iter_mut().zip(numeric) {
        column.numeric = is_numeric;
    }
    if is_cut {
        let and = if table.missing.is_empty() { "" } else { ", " };
        table.missing.push_str(and);
        table
            .missing
            .push_str("the rest of the rows, which were not read");
    }
    table.stored_rows = stored.map(|stored| stored.rows);
    Some(PanelBody::Table(table))
}

/// Returns a row of a stored table as it is shown.
pub fn shown_row(row: &[Value]) -> Vec<String> {
    row.iter().take(MAX_COLUMNS).map(format_value).collect()
}

/// Formats a value of a query's result: a missing one is not an empty text.
fn format_value(value: &Value) -> String {
    match value {
        Value::Null => NULL_TEXT.into(),
        value => format_line(value),
    }
}

/// Returns all rows unchanged, after a row of the columns' names; `None` if the table is too large for a
/// file.
pub fn rows(data: &Value) -> Option<Vec<Vec<Value>>> {
    let TableData { columns, rows, .. } = TableData::deserialize(data).ok()?;
    let columns = column_names(columns, &rows)?;
    if columns.len().saturating_mul(rows.len()) > MAX_FILE_CELLS {
        return None;
    }
    let rows = TableRows::collect(columns, &rows, usize::MAX, usize::MAX);
    let names = rows.columns.into_iter().map(Value::String).collect();
    let given = |cell: &Option<&Value>| cell.cloned().unwrap_or_default();
    let cells = rows.cells.iter().map(|row| row.iter().map(given).collect());
    Some(iter::once(names).chain(cells).collect())
}

/// Returns the names of the columns. All rows must be lists, or all objects.
fn column_names(columns: Vec<Line>, rows: &[Value]) -> Option<Vec<String>> {
    let mut columns: Vec<String> = columns.into_iter().map(|Line(name)| name).collect();
    let lists: Option<Vec<_>> = rows.iter().map(Value::as_array).collect();
    let objects: Option<Vec<_>> = rows.iter().map(Value::as_object).collect();
    match (&lists, &objects) {
        // Columns without a name are kept.
        (Some(lists), _) if !columns.is_empty() => {
            let longest = lists.iter().map(|row| row.len()).max().unwrap_or(0);
            columns.resize(columns.len().max(longest), String::new());
        }
        (_, Some(objects)) if columns.is_empty() => {
            let mut known = std::collections::HashSet::new();
            let names = objects.iter().flat_map(|row| row.keys());
            columns = names.filter(|name| known.insert(*name)).cloned().collect();
        }
        _ => {}
    }
    let are_of_one_kind = lists.is_some() || objects.is_some();
    (!columns.is_empty() && are_of_one_kind).then_some(columns)
}

/// The rows of a table.
struct TableRows<'a> {
    columns: Vec<String>,
    cells: Vec<Vec<Option<&'a Value>>>,
    /// The numbers of columns and rows that are not shown.
    missing: (usize, usize),
}

impl<'a> TableRows<'a> {
    /// Collects rows within a maximum number of columns and of cells.
    fn collect(mut columns: Vec<String>, rows: &'a [Value], most_columns: usize, most_cells: usize) -> Self {
        let shown = columns.len().min(most_columns);
        let missing = (
            columns.len() - shown,
            rows.len().saturating_sub(most_cells / shown),
        );
        columns.truncate(shown);
        let of_row = |row: &'a Value| {
            let cell = |(index, name): (usize, &String)| match row {
                Value::Array(cells) => cells.get(index),
                _ => row.get(name),
            };
            columns.iter().enumerate().map(cell).collect()
        };
        let cells = rows.iter().take(most_cells / shown).map(of_row).collect();
        Self {
            columns,
            cells,
            missing,
        }
    }

    fn into_table(self, title: String, format: fn(&Value) -> String) -> TableView {
        let is_numeric = |index: usize| {
            let mut cells = self.cells.iter().filter_map(|row| row[index]);
            let mut known = cells.by_ref().filter(|cell| !cell.is_null()).peekable();
            known.peek().is_some() && known.all(Value::is_number)
        };
        let numeric: Vec<bool> = (0..self.columns.len()).map(is_numeric).collect();
        let names = self.columns.iter().map(|name| format_line(&name.as_str().into()));
        let text = |cell: &Option<&Value>| cell.map(format).unwrap_or_default();
        TableView {
            title: Some(title).filter(|title| !title.is_empty()),
            columns: names
                .zip(numeric)
                .map(|(name, numeric)| TableColumn { name, numeric })
                .collect(),
            rows: self
                .cells
                .iter()
                .map(|row| row.iter().map(text).collect())
                .collect(),
            missing: missing_note(self.missing),
            stored_rows: None,
            has_columns: false,
        }
    }
}

fn missing_note((columns, rows): (usize, usize)) -> String {
    let counts = [
        (rows, "more row", "more rows"),
        (columns, "more column", "more columns"),
    ];
    let counts = counts.into_iter().filter(|(number, ..)| *number > 0);
    let counts = counts.map(|(number, one, many)| format_count(number as u64, one, many));
    counts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table(data: &Value) -> TableView {
        match read(data) {
            Some(PanelBody::Table(table)) => table,
            other => panic!("{other:?} is no table"),
        }
    }

    fn column(name: &str, numeric: bool) -> TableColumn {
        TableColumn {
            name: name.into(),
            numeric,
        }
    }

    #[test]
    fn list_rows_have_the_widest_width() {
        let data = json!({
            "title": "T", "columns": ["a", 2], "rows": [["x\ny", 1.50, true], [], [null, -2, {"k": [1]}]]
        });
        let row = |cells: [&str; 3]| cells.map(Into::into).to_vec();
        let expected = TableView {
            title: Some("T".into()),
            columns: vec![column("a", false), column("2", true), column("", false)],
            rows: vec![
                row(["x y", "1.5", "true"]),
                row(["", "", ""]),
                row(["", "-2", "{\"k\":[1]}"]),
            ],
            missing: String::new(),
            stored_rows: None,
            has_columns: false,
        };
        assert_eq!(table(&data), expected);
    }

    #[test]
    fn missing_value_of_a_query_is_not_empty() {
        let mut data = json!({ "columns": ["a", "b"], "rows": [["", null]] });
        assert_eq!(table(&data).rows, [["", ""]]);
        data["types"] = json!([{ "kind": "text" }, {}]);
        assert_eq!(table(&data).rows, [["", "NULL"]]);
        assert_eq!(shown_row(&["".into(), Value::Null, 1.into()]), ["", "NULL", "1"]);
    }

    #[test]
    fn object_rows_name_columns_by_default() {
        let rows = json!([{"a": 1, "b": "x"}, {"a": 2, "c": null}]);
        let named = table(&json!({ "rows": rows }));
        assert_eq!(
            named.columns,
            [column("a", true), column("b", false), column("c", false)]
        );
        assert_eq!(named.rows, [["1", "x", ""], ["2", "", ""]]);
        let chosen = table(&json!({ "columns": ["b", "a"], "rows": rows }));
        assert_eq!(chosen.rows, [["x", "1"], ["", "2"]]);
    }

    #[test]
    fn counts_omitted_rows_and_columns() {
        let wide = table(&json!({ "columns": vec!["c"; 100], "rows": [] }));
        assert_eq!(
            (wide.columns.len(), wide.missing.as_str()),
            (MAX_COLUMNS, "36 more columns")
        );
        let long = table(&json!({ "columns": ["a", "b"], "rows": vec![[1, 2]; 10_001] }));
        assert_eq!((long.rows.len(), long.missing.as_str()), (10_000, "1 more row"));
    }

    #[test]
    fn first_rows_note_the_number_of_missing_rows() {
        let data = json!({ "columns": ["a"], "rows": [[1]], "stored": { "file": "x", "rows": 1200 } });
        let mut first = table(&data);
        assert_eq!((first.stored_rows, first.missing.as_str()), (Some(1200), ""));
        first.keep_first_rows(", which are gone");
        assert_eq!(
            (first.stored_rows, first.missing.as_str()),
            (None, "1,199 more rows, which are gone")
        );
    }

    #[test]
    fn rejects_mixed_row_kinds() {
        assert_eq!(read(&json!({ "columns": ["a"], "rows": [[1], {"a": 1}] })), None);
        assert_eq!(read(&json!({ "rows": [[1]] })), None);
        assert_eq!(read(&json!({ "columns": [], "rows": [] })), None);
    }
}
