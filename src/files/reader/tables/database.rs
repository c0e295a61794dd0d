//! Writing of tables into a database of SQLite.

use rusqlite::{
    Connection, Statement,
    types::{ToSqlOutput, Value, ValueRef},
};

use super::{
    super::table::{CellKind, TableSink},
    columns::{ColumnType, ScannedTable},
};

/// Writes the rows of tables whose columns are known.
pub struct TableWriter<'c> {
    connection: &'c Connection,
    /// The tables that are still to come.
    tables: std::vec::IntoIter<ScannedTable>,
    current: Option<OpenTable<'c>>,
    /// The first error. Nothing is written after it.
    result: rusqlite::Result<()>,
}

struct OpenTable<'c> {
    table: ScannedTable,
    insert: Statement<'c>,
    /// `true` once there was a row with content.
    has_begun: bool,
}

impl<'c> TableWriter<'c> {
    /// Writes the tables of a scan, whose rows come in the same order.
    pub fn new(connection: &'c Connection, tables: Vec<ScannedTable>) -> Self {
        Self {
            connection,
            tables: tables.into_iter(),
            current: None,
            result: connection.execute_batch("PRAGMA journal_mode = OFF; BEGIN"),
        }
    }

    /// Ends the writing.
    ///
    /// # Errors
    ///
    /// The first error of all.
    pub fn finish(self) -> rusqlite::Result<()> {
        self.result?;
        self.connection.execute_batch("COMMIT")
    }

    fn open(&mut self) -> rusqlite::Result<()> {
        let Some(table) = self.tables.next().filter(|table| !table.columns.is_empty()) else {
            return Ok(());
        };
        let columns = table
            .columns
            .iter()
            .map(|(name, data_type)| format!("{} {}", quote(name), data_type.as_str()));
        let columns = columns.collect::<Vec<_>>().join(", ");
        let name = quote(&table.name);
        self.connection
            .execute_batch(&format!("CREATE TABLE {name} ({columns})"))?;
        let places = vec!["?"; table.columns.len()].join(", ");
        let insert = self
            .connection
            .prepare(&format!("INSERT INTO {name} VALUES ({places})"))?;
        self.current = Some(OpenTable {
            table,
            insert,
            has_begun: false,
        });
        Ok(())
    }
}

impl OpenTable<'_> {
    fn insert(&mut self, cells: &[(CellKind, &str)]) -> rusqlite::Result<()> {
        if !self.has_begun {
            if cells.iter().all(|(kind, _)| *kind == CellKind::Empty) {
                return Ok(());
            }
            self.has_begun = true;
            if self.table.has_heading {
                return Ok(());
            }
        }
        let columns = self.table.columns.iter().enumerate();
        let values = columns.map(|(index, (_, data_type))| match cells.get(index) {
            Some((kind, text)) if *kind != CellKind::Empty => to_value(*data_type, text),
            _ => ToSqlOutput::Borrowed(ValueRef::Null),
        });
        self.insert.execute(rusqlite::params_from_iter(values)).map(drop)
    }
}

impl TableSink for TableWriter<'_> {
    fn start_table(&mut self, _name: &str) {
        self.current = None;
        if self.result.is_ok() {
            self.result = self.open();
        }
    }

    fn push_row(&mut self, cells: &[(CellKind, &str)]) {
        if let Some(table) = &mut self.current
            && self.result.is_ok()
        {
            self.result = table.insert(cells);
        }
    }

    fn end_table(&mut self, _has_more: bool) {
        self.current = None;
    }
}

/// Returns a value of a column's type. What is none, stays a text.
fn to_value(data_type: ColumnType, text: &str) -> ToSqlOutput<'_> {
    let number = match data_type {
        ColumnType::Integer => text.trim().parse().ok().map(Value::Integer),
        // A comma is the decimal one of many languages.
        ColumnType::Real => text.trim().replacen(',', ".", 1).parse().ok().map(Value::Real),
        ColumnType::Text => None,
    };
    match number {
        Some(number) => ToSqlOutput::Owned(number),
        None => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
    }
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\"").replace('\0', ""))
}
