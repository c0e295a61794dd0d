//! The rows of a query, collected within limits.

use super::{Cell, limits::QueryLimits};

/// The result of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryResult {
    pub columns: Vec<ResultColumn>,
    pub rows: Vec<Vec<Cell>>,
    /// The setting whose limit ended the result; `None` if it is whole.
    pub cut_by: Option<&'static str>,
    /// Sentences about the parts of the queried files that were not read.
    pub notes: Vec<String>,
}

impl QueryResult {
    /// Returns true if a column has numbers and nothing else but missing values.
    pub fn is_numeric(&self, column: usize) -> bool {
        let cells = self.rows.iter().map(|row| &row[column]);
        let mut known = cells.filter(|cell| **cell != Cell::Null).peekable();
        known.peek().is_some() && known.all(Cell::is_number)
    }
}

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultColumn {
    pub name: String,
    /// The type as the database names it; empty if it has none.
    pub data_type: String,
}

/// Collects rows up to the limits.
pub struct RowCollector {
    result: QueryResult,
    limits: QueryLimits,
    bytes: usize,
}

impl RowCollector {
    pub fn new(columns: Vec<ResultColumn>, limits: QueryLimits) -> Self {
        Self {
            result: QueryResult {
                columns,
                ..QueryResult::default()
            },
            limits,
            bytes: 0,
        }
    }

    /// Adds a row. Returns false if it does not fit: then the result is finished.
    pub fn push(&mut self, row: Vec<Cell>) -> bool {
        if self.result.rows.len() >= self.limits.rows {
            self.result.cut_by = Some("data.result_rows");
            return false;
        }
        let bytes = row.iter().map(Cell::byte_len).sum();
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.limits.bytes {
            self.result.cut_by = Some("data.result_bytes");
            return false;
        }
        self.result.rows.push(row);
        true
    }

    pub fn finish(self) -> QueryResult {
        self.result
    }
}
