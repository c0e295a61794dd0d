//! The rows of a query, collected within limits: in memory, or in a file if they are many.

use std::path::PathBuf;

use super::{Cell, QueryError, cell_kind::CellKinds, limits::QueryLimits, sqlite::RowWriter};

/// The number of rows that are kept in memory of a result in a file.
const MAX_FIRST_ROWS: usize = 200;
/// The rows that are written to a file at a time, and their size from which on they are written earlier.
const BATCH_ROWS: usize = 500;
const BATCH_BYTES: usize = 1 << 20;
/// The JSON of a payload besides its rows and the names of its columns, in bytes.
const OTHER_JSON_BYTES: usize = 2 << 10;
/// The same for each column, besides its name.
const COLUMN_JSON_BYTES: usize = 24;

/// The result of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryResult {
    pub columns: Vec<ResultColumn>,
    /// All rows; the first ones if all are in a file.
    pub rows: Vec<Vec<Cell>>,
    /// The number of all rows.
    pub row_count: usize,
    /// True if the rows are in the file that was given.
    pub is_in_file: bool,
    /// The setting whose limit ended the result; `None` if it is whole.
    pub cut_by: Option<&'static str>,
    /// Sentences about the parts of the queried files that were not read.
    pub notes: Vec<String>,
    /// The kinds of values in each column.
    pub(super) kinds: Vec<CellKinds>,
}

impl QueryResult {
    /// Returns true if a column has numbers and nothing else but missing values.
    pub fn is_numeric(&self, column: usize) -> bool {
        self.kinds(column).are_numbers()
    }

    /// Returns the kinds of values in a column.
    pub fn kinds(&self, column: usize) -> CellKinds {
        self.kinds.get(column).copied().unwrap_or_default()
    }
}

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultColumn {
    pub name: String,
    /// The type as the database names it; empty if it has none.
    pub data_type: String,
}

/// The file for the rows of a result, and the limits up to which they stay in memory.
#[derive(Clone, Debug)]
pub struct RowFile {
    /// An empty file.
    pub path: PathBuf,
    /// The cells that stay in memory.
    pub max_cells: usize,
    /// The maximum size of a JSON object with the columns and the rows, in bytes.
    pub max_json_bytes: usize,
    /// The maximum size of the values of a file, in bytes.
    pub max_bytes: usize,
}

/// Collects rows up to the limits.
pub struct RowCollector {
    result: QueryResult,
    limits: QueryLimits,
    bytes: usize,
    file: Option<FileRows>,
}

/// Rows that may have to be written to a file.
struct FileRows {
    file: RowFile,
    /// The size of all rows as JSON in bytes, at most.
    json_bytes: usize,
    writer: Option<RowWriter>,
    /// Rows that are not written yet, and their size.
    batch: Vec<Vec<Cell>>,
    batch_bytes: usize,
}

impl RowCollector {
    /// Returns a collector. Without a file, all rows stay in memory.
    pub fn new(columns: Vec<ResultColumn>, limits: QueryLimits, file: Option<RowFile>) -> Self {
        let names = columns
            .iter()
            .map(|column| Cell::Text(column.name.clone()).max_json_len() + COLUMN_JSON_BYTES);
        let json_bytes = OTHER_JSON_BYTES + names.sum::<usize>();
        Self {
            result: QueryResult {
                kinds: vec![CellKinds::default(); columns.len()],
                columns,
                ..QueryResult::default()
            },
            limits,
            bytes: 0,
            file: file.map(|file| FileRows {
                file,
                json_bytes,
                writer: None,
                batch: Vec::new(),
                batch_bytes: 0,
            }),
        }
    }

    /// Adds a row. Returns false if it does not fit: then the result is finished.
    ///
    /// # Errors
    ///
    /// If the file can't be written.
    pub fn push(&mut self, row: Vec<Cell>) -> Result<bool, QueryError> {
        if self.result.row_count >= self.limits.rows {
            self.result.cut_by = Some("data.result_rows");
            return Ok(false);
        }
        let bytes = row.iter().map(Cell::byte_len).sum();
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.limits.bytes {
            self.result.cut_by = Some("data.result_bytes");
            return Ok(false);
        }
        let is_full = |file: &FileRows| file.writer.is_some() && self.bytes > file.file.max_bytes;
        if self.file.as_ref().is_some_and(is_full) {
            self.result.cut_by = Some("files.user_bytes");
            return Ok(false);
        }
        for (kinds, cell) in self.result.kinds.iter_mut().zip(&row) {
            kinds.add(cell);
        }
        self.result.row_count += 1;
        match &mut self.file {
            None => self.result.rows.push(row),
            Some(file) => file.push(&mut self.result, row, bytes)?,
        }
        Ok(true)
    }

    /// Returns the result. A file is complete then.
    ///
    /// # Errors
    ///
    /// If the file can't be written.
    pub fn finish(mut self) -> Result<QueryResult, QueryError> {
        if let Some(file) = self.file {
            self.result.is_in_file = file.finish()?;
        }
        Ok(self.result)
    }
}

impl FileRows {
    fn push(&mut self, result: &mut QueryResult, row: Vec<Cell>, bytes: usize) -> Result<(), QueryError> {
        if self.writer.is_none() {
            self.json_bytes += 3 + row.iter().map(|cell| cell.max_json_len() + 1).sum::<usize>();
            let cells = result.columns.len().saturating_mul(result.row_count);
            if cells <= self.file.max_cells && self.json_bytes <= self.file.max_json_bytes {
                result.rows.push(row);
                return Ok(());
            }
            let mut writer = RowWriter::create(&self.file.path, result.columns.len()).map_err(not_written)?;
            writer.write(&result.rows).map_err(not_written)?;
            result.rows.truncate(MAX_FIRST_ROWS);
            result.rows.shrink_to_fit();
            self.writer = Some(writer);
        }
        self.batch.push(row);
        self.batch_bytes += bytes;
        if self.batch.len() >= BATCH_ROWS || self.batch_bytes >= BATCH_BYTES {
            self.write_batch()?;
        }
        Ok(())
    }

    fn write_batch(&mut self) -> Result<(), QueryError> {
        if let Some(writer) = &mut self.writer {
            writer.write(&self.batch).map_err(not_written)?;
        }
        self.batch.clear();
        self.batch_bytes = 0;
        Ok(())
    }

    /// Returns true if the rows are in the file.
    fn finish(mut self) -> Result<bool, QueryError> {
        self.write_batch()?;
        match self.writer {
            Some(writer) => writer.finish().map_err(not_written).map(|()| true),
            None => Ok(false),
        }
    }
}

fn not_written(error: rusqlite::Error) -> QueryError {
    tracing::error!(%error, "the rows of a query can't be written to a file");
    QueryError::not_stored()
}
