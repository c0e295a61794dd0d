//! Writing of tables into a database of SQLite.

use rusqlite::{
    Connection, Statement,
    types::{ToSqlOutput, Value, ValueRef},
};

use super::{
    super::{
        column_values::ColumnType,
        table::{CellKind, CutReason, TableSink},
    },
    columns::{MAX_COLUMNS, ScannedTable},
};

/// The table about the others: the name in SQL of each, its sheet, the number of its rows, the reason if there are more, and
/// the number of columns in the file. A sheet of which nothing was read has no name.
const CREATE_CATALOGUE: &str =
    "CREATE TABLE parlor_tables (name TEXT, sheet TEXT, row_count INTEGER, cut TEXT, width INTEGER)";

/// The notes about tables, by their names in SQL. Databases of earlier versions have none.
const CREATE_NOTES: &str = "CREATE TABLE parlor_notes (name TEXT, text TEXT)";

/// Writes the rows of tables whose columns are known.
pub struct TableWriter<'c> {
    connection: &'c Connection,
    /// The tables that are still to come.
    tables: std::vec::IntoIter<ScannedTable>,
    /// The name of the current one in the file.
    sheet: String,
    current: Option<OpenTable<'c>>,
    /// The number of tables so far.
    count: usize,
    /// The first error. Nothing is written after it.
    result: rusqlite::Result<()>,
}

struct OpenTable<'c> {
    /// The name in SQL, which no sheet can spoil.
    name: String,
    table: ScannedTable,
    row_count: usize,
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
            sheet: String::new(),
            current: None,
            count: 0,
            result: connection.execute_batch(&format!(
                "PRAGMA journal_mode = OFF; BEGIN; {CREATE_CATALOGUE}; {CREATE_NOTES}"
            )),
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

    fn catalogue(
        &self,
        name: Option<&str>,
        sheet: &str,
        row_count: usize,
        cut: Option<CutReason>,
        width: usize,
    ) -> rusqlite::Result<()> {
        let cut = cut.map(CutReason::as_str);
        let to_integer = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.connection
            .execute(
                "INSERT INTO parlor_tables VALUES (?1, ?2, ?3, ?4, ?5)",
                (name, sheet, to_integer(row_count), cut, to_integer(width)),
            )
            .map(drop)
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
        self.count += 1;
        let name = format!("t{}", self.count);
        self.connection
            .execute_batch(&format!("CREATE TABLE {name} ({columns})"))?;
        let places = vec!["?"; table.columns.len()].join(", ");
        let insert = self
            .connection
            .prepare(&format!("INSERT INTO {name} VALUES ({places})"))?;
        self.current = Some(OpenTable {
            name,
            table,
            row_count: 0,
            insert,
            has_begun: false,
        });
        Ok(())
    }
}

impl OpenTable<'_> {
    fn insert(&mut self, cells: &[(CellKind, &str)]) -> rusqlite::Result<()> {
        let cells = &cells[..cells.len().min(MAX_COLUMNS)];
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
            Some((kind, text)) if !matches!(kind, CellKind::Empty | CellKind::Error) => {
                to_value(*data_type, text)
            }
            _ => ToSqlOutput::Borrowed(ValueRef::Null),
        });
        self.insert.execute(rusqlite::params_from_iter(values))?;
        self.row_count += 1;
        Ok(())
    }
}

impl TableSink for TableWriter<'_> {
    fn start_table(&mut self, name: &str) {
        self.current = None;
        self.sheet = name.to_owned();
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

    fn note(&mut self, text: String) {
        if let Some(table) = &self.current
            && self.result.is_ok()
        {
            let insert = "INSERT INTO parlor_notes VALUES (?1, ?2)";
            self.result = self.connection.execute(insert, (&table.name, text)).map(drop);
        }
    }

    fn end_table(&mut self, cut: Option<CutReason>) {
        let ended = self.current.take();
        if self.result.is_err() || ended.is_none() && cut.is_none() {
            return;
        }
        let ended = ended.as_ref();
        self.result = self.catalogue(
            ended.map(|table| &*table.name),
            &self.sheet,
            ended.map_or(0, |table| table.row_count),
            cut,
            ended.map_or(0, |table| table.table.width),
        );
    }

    fn omit_table(&mut self, name: &str, reason: CutReason) {
        if self.result.is_ok() {
            self.result = self.catalogue(None, name, 0, Some(reason), 0);
        }
    }
}

/// Returns a value of a column's type. What is none in a column of numbers is a word for a missing one.
fn to_value(data_type: ColumnType, text: &str) -> ToSqlOutput<'_> {
    let number = match data_type {
        ColumnType::Integer => text.trim().parse().ok().map(Value::Integer),
        // A comma is the decimal one of many languages.
        ColumnType::Real => text.trim().replacen(',', ".", 1).parse().ok().map(Value::Real),
        ColumnType::Boolean => Some(Value::Integer(i64::from(
            text.trim().eq_ignore_ascii_case("true"),
        ))),
        ColumnType::Text => return ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
    };
    ToSqlOutput::Owned(number.unwrap_or(Value::Null))
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
