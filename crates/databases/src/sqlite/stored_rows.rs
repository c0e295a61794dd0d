//! Reading the file of a result: a page of its rows, sorted and filtered, or all rows one chunk after the other.
//!
//! A request gives the index of a column, which is checked, and words, which only a function of Parlor's own reads: nothing
//! of it becomes SQL.

use std::{path::PathBuf, sync::Arc};

use rusqlite::{Connection, Row, functions::FunctionFlags, types::ValueRef};
use tokio::sync::Semaphore;

use super::{
    super::{Cell, QueryError, QueryErrorKind, limits::QueryLimits},
    ConnectionPurpose, SqliteBackend,
    query::query_error,
};

/// The function that looks for a word (its index) in values.
const HAS_WORD: &str = "parlor_has_word";
/// The values that it takes at a time; SQLite limits the arguments.
const VALUES_PER_CALL: usize = 90;
/// The part of a text by which rows are sorted, in characters.
const SORTED_CHARS: usize = 200;
/// The part of a text that a page needs, in bytes: one line of the panel.
const PAGE_VALUE_BYTES: usize = 4 << 10;
/// The size from which on a chunk of all rows ends.
const CHUNK_BYTES: usize = 512 << 10;
/// The maximum number of rows in such a chunk.
const CHUNK_ROWS: usize = 2000;

/// The rows of a result in a file, which may be damaged or missing.
#[derive(Clone)]
pub struct StoredRows(Arc<Inner>);

struct Inner {
    backend: SqliteBackend,
    limits: QueryLimits,
    /// The number of columns.
    width: usize,
}

/// A request for a page of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowsRequest {
    /// The number of rows before the page.
    pub offset: u64,
    pub count: usize,
    /// The number of columns that are returned, the first ones.
    pub columns: usize,
    pub order: Option<RowOrder>,
    /// Words that each row has, in any of its columns, in upper or lower case.
    pub words: Vec<String>,
}

/// An order by a column. Missing values are last in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowOrder {
    pub column: usize,
    /// True if the column has numbers, some of which may be stored as texts.
    pub is_numeric: bool,
    pub is_descending: bool,
}

/// A page of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct RowsPage {
    pub rows: Vec<Vec<Cell>>,
    /// The number of all rows that have the words.
    pub found: u64,
}

impl StoredRows {
    pub(crate) fn new(path: PathBuf, width: usize, limits: QueryLimits, threads: Arc<Semaphore>) -> Self {
        // What was stored is read, whatever the settings say by now. A character has up to four bytes.
        let limits = QueryLimits {
            columns: limits.columns.max(width),
            value_bytes: limits.value_bytes.saturating_mul(4).max(CHUNK_BYTES),
            ..limits
        };
        Self(Arc::new(Inner {
            backend: SqliteBackend::of_file(path, threads),
            limits,
            width,
        }))
    }

    /// Returns a page of the rows.
    pub async fn page(&self, request: RowsRequest) -> Result<RowsPage, QueryError> {
        let width = self.0.width;
        if request.order.is_some_and(|order| order.column >= width) {
            return Err(QueryError::refused("There is no such column."));
        }
        self.run(move |connection| read_page(connection, width, request))
            .await
    }

    /// Returns some of the rows after a number of rows; none at the end.
    pub async fn chunk(&self, after: u64) -> Result<Vec<Vec<Cell>>, QueryError> {
        let width = self.0.width;
        self.run(move |connection| read_chunk(connection, width, after))
            .await
    }

    async fn run<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, QueryError> {
        let read = move |connection: &Connection, _: &[_], _: &QueryLimits| {
            read(connection).map_err(|error| query_error(&error, ""))
        };
        let inner = &self.0;
        let read = inner
            .backend
            .run(ConnectionPurpose::Query, &inner.limits, read)
            .await;
        // Parlor's own statements fail only on another kind of file, or at a limit, which has its own error.
        read.map_err(|error| match error.kind {
            QueryErrorKind::Invalid => {
                tracing::error!(%error, "the file of a result can't be read");
                QueryError::unavailable()
            }
            _ => error,
        })
    }
}

fn read_page(connection: &Connection, width: usize, request: RowsRequest) -> rusqlite::Result<RowsPage> {
    let RowsRequest {
        offset,
        count,
        columns: shown,
        order,
        words,
    } = request;
    let shown = shown.min(width);
    let filter = add_filter(connection, width, words)?;
    let found = match filter.is_empty() {
        true => "SELECT coalesce(max(rowid), 0) FROM rows".to_owned(),
        false => format!("SELECT count(*) FROM rows{filter}"),
    };
    let found: i64 = connection.prepare(&found)?.query_row([], |row| row.get(0))?;
    // Only the numbers of the rows are sorted.
    let (offset, count) = (to_number(offset), to_number(count as u64));
    let numbers = match (filter.is_empty(), order) {
        (true, None) => "SELECT rowid FROM rows WHERE rowid > ?2 ORDER BY rowid LIMIT ?1".to_owned(),
        (_, order) => {
            let order = order.map(order_terms).unwrap_or_default();
            format!("SELECT rowid FROM rows{filter} ORDER BY {order}rowid LIMIT ?1 OFFSET ?2")
        }
    };
    let mut numbers = connection.prepare(&numbers)?;
    let numbers = numbers.query_map([count, offset], |row| row.get::<_, i64>(0))?;
    let numbers = numbers.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut row = connection.prepare(&format!(
        "SELECT {} FROM rows WHERE rowid = ?1",
        columns(0..shown)
    ))?;
    let rows = numbers
        .iter()
        .map(|number| row.query_row([number], |row| read_row(row, shown, PAGE_VALUE_BYTES)));
    Ok(RowsPage {
        rows: rows.collect::<rusqlite::Result<_>>()?,
        found: found.try_into().unwrap_or_default(),
    })
}

fn read_chunk(connection: &Connection, width: usize, after: u64) -> rusqlite::Result<Vec<Vec<Cell>>> {
    let sql = format!(
        "SELECT {} FROM rows WHERE rowid > ?1 ORDER BY rowid LIMIT {CHUNK_ROWS}",
        columns(0..width)
    );
    let mut statement = connection.prepare(&sql)?;
    let mut found = statement.query([to_number(after)])?;
    let (mut rows, mut bytes) = (Vec::new(), 0);
    while bytes < CHUNK_BYTES
        && let Some(row) = found.next()?
    {
        let row = read_row(row, width, usize::MAX)?;
        bytes += row.iter().map(Cell::byte_len).sum::<usize>();
        rows.push(row);
    }
    Ok(rows)
}

/// Returns the condition for rows with all words; nothing if there are none.
fn add_filter(connection: &Connection, width: usize, words: Vec<String>) -> rusqlite::Result<String> {
    let count = words.len();
    let words: Vec<String> = words.into_iter().map(|word| word.to_lowercase()).collect();
    connection.create_scalar_function(HAS_WORD, -1, FunctionFlags::SQLITE_UTF8, move |call| {
        let index: u16 = call.get(0)?;
        let word = words.get(usize::from(index)).map_or("", String::as_str);
        Ok((1..call.len()).any(|value| has_word(call.get_raw(value), word)))
    })?;
    let has_word = |index: usize| {
        let starts = (0..width).step_by(VALUES_PER_CALL);
        let calls = starts.map(|start| {
            let values = columns(start..width.min(start + VALUES_PER_CALL));
            format!("{HAS_WORD}({index}, {values})")
        });
        format!("({})", calls.collect::<Vec<_>>().join(" OR "))
    };
    let conditions: Vec<String> = (0..count).map(has_word).collect();
    Ok(match conditions.is_empty() {
        true => String::new(),
        false => format!(" WHERE {}", conditions.join(" AND ")),
    })
}

/// Returns true if a value has a word, which is in lower case.
fn has_word(value: ValueRef<'_>, word: &str) -> bool {
    let has = |text: &str| {
        if text.is_ascii() {
            let word = word.as_bytes();
            let mut parts = text.as_bytes().windows(word.len().max(1));
            word.is_empty() || parts.any(|part| part.eq_ignore_ascii_case(word))
        } else {
            text.to_lowercase().contains(word)
        }
    };
    match value {
        ValueRef::Text(text) => has(&String::from_utf8_lossy(text)),
        ValueRef::Null | ValueRef::Blob(_) => false,
        ValueRef::Integer(number) => has(&number.to_string()),
        ValueRef::Real(number) => match Cell::Real(number).to_json() {
            serde_json::Value::String(text) => has(&text),
            number => has(&number.to_string()),
        },
    }
}

/// Returns the terms by which rows are sorted, before the number of the row.
fn order_terms(order: RowOrder) -> String {
    let direction = if order.is_descending { " DESC" } else { "" };
    let column = format!("c{}", order.column);
    if order.is_numeric {
        // Decimal numbers are texts.
        return format!(
            "({column} IS NULL OR {column} = 'NaN'), CAST({column} AS REAL){direction}, {column}{direction}, "
        );
    }
    let value = format!(
        "CASE typeof({column}) WHEN 'text' THEN substr({column}, 1, {SORTED_CHARS}) ELSE {column} END"
    );
    format!("{column} IS NULL, {value} COLLATE NOCASE{direction}, ")
}

fn columns(indices: std::ops::Range<usize>) -> String {
    let names = indices.map(|index| format!("c{index}"));
    names.collect::<Vec<_>>().join(", ")
}

/// Reads a row. Texts are cut to a size.
fn read_row(row: &Row<'_>, width: usize, max_bytes: usize) -> rusqlite::Result<Vec<Cell>> {
    let read = |index| {
        Ok(match row.get_ref(index)? {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(number) => Cell::Integer(number),
            ValueRef::Real(number) => Cell::Real(number),
            ValueRef::Text(text) => {
                let text = &text[..text.len().min(max_bytes)];
                Cell::Text(String::from_utf8_lossy(text).into_owned())
            }
            ValueRef::Blob(bytes) => Cell::Binary(bytes[..bytes.len().min(max_bytes)].to_owned()),
        })
    };
    (0..width).map(read).collect()
}

fn to_number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
