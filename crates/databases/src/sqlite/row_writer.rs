//! The file of a result with many rows: a database of SQLite with the table `rows` and its columns `c0`, `c1` and so on, in
//! the order of the result by `rowid`, from 1.
//!
//! Values without a type in SQLite are texts, as in JSON: booleans, decimal numbers, binary values, NaN.

use std::path::Path;

use rusqlite::{
    Connection, OpenFlags, params_from_iter,
    types::{Null, ToSqlOutput, Value, ValueRef},
};

use super::super::Cell;

/// The page cache, in KiB.
const CACHE_KIB: i32 = 2048;

/// Writes rows into a new file.
pub struct RowWriter {
    connection: Connection,
    insert: String,
}

impl RowWriter {
    /// Opens an empty file.
    pub fn create(path: &Path, width: usize) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        let names = (0..width).map(|index| format!("c{index}"));
        let names = names.collect::<Vec<_>>().join(", ");
        let marks = vec!["?"; width].join(", ");
        // A file that was not finished is deleted.
        connection.execute_batch(&format!(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -{CACHE_KIB}; BEGIN; \
             CREATE TABLE rows ({names})"
        ))?;
        Ok(Self {
            connection,
            insert: format!("INSERT INTO rows VALUES ({marks})"),
        })
    }

    /// Appends rows.
    pub fn write(&mut self, rows: &[Vec<Cell>]) -> rusqlite::Result<()> {
        let mut insert = self.connection.prepare(&self.insert)?;
        for row in rows {
            insert.execute(params_from_iter(row.iter().map(to_sql)))?;
        }
        Ok(())
    }

    /// Completes the file. The caller brings it to the disk.
    pub fn finish(self) -> rusqlite::Result<()> {
        self.connection.execute_batch("COMMIT")?;
        self.connection.close().map_err(|(_, error)| error)
    }
}

fn to_sql(cell: &Cell) -> ToSqlOutput<'_> {
    let text = |text: String| ToSqlOutput::Owned(Value::Text(text));
    match cell {
        Cell::Null => ToSqlOutput::from(Null),
        Cell::Bool(value) => text(value.to_string()),
        Cell::Integer(value) => ToSqlOutput::from(*value),
        // SQLite would make it NULL.
        Cell::Real(value) if value.is_nan() => text("NaN".into()),
        Cell::Real(value) => ToSqlOutput::from(*value),
        Cell::Decimal(number) => match number.as_str() {
            "Infinity" => ToSqlOutput::from(f64::INFINITY),
            "-Infinity" => ToSqlOutput::from(f64::NEG_INFINITY),
            number => ToSqlOutput::Borrowed(ValueRef::Text(number.as_bytes())),
        },
        Cell::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        Cell::Binary(_) => text(cell.to_text().unwrap_or_default()),
    }
}
