//! Tables whose rows are in a file: a page of them for the panel, and all of them as CSV.

use std::io;

use bytes::Bytes;
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use serde_json::Value;

use super::{Caller, payloads::load};
use parlor_pages::{
    data::{Cell, Data, QueryErrorKind, RowOrder, RowsRequest, StoredRows, StoredTable},
    payloads::{CSV_START, MAX_COLUMNS, csv_lines, shown_row, titled_name},
};
use parlor_protocol::{
    ApiError, ConversationId, ErrorCode, PanelView, Payload,
    panel::{PanelBody, TABLE_PAGE_ROWS, TablePage},
};

/// The maximum number of words of a filter. Others are ignored, as are too long ones.
const MAX_WORDS: usize = 10;
const MAX_WORD_CHARS: usize = 200;

/// A request for a page of a table.
pub struct TableQuery {
    /// The number of rows before the page.
    pub offset: u64,
    /// The column by which the rows are sorted.
    pub column: Option<usize>,
    pub is_descending: bool,
    /// Words that each row has.
    pub filter: String,
}

/// Returns a page of a table whose rows are in a file.
pub async fn page(
    caller: &Caller,
    conversation_id: ConversationId,
    payload_id: &str,
    query: TableQuery,
) -> Result<TablePage, ApiError> {
    let payload = load(caller, conversation_id, payload_id).await?;
    let table = StoredTable::from_payload(&payload);
    let table = table.ok_or_else(|| bad_request("All rows of this are in its payload."))?;
    let rows = load_rows(caller, &table).await?.ok_or_else(rows_gone)?;
    let order = query.column.map(|column| RowOrder {
        column,
        is_numeric: table.numeric.get(column) == Some(&true),
        is_descending: query.is_descending,
    });
    if order.is_some_and(|order| order.column >= table.columns.len()) {
        return Err(bad_request("The table has no such column."));
    }
    let words = query.filter.split_whitespace().take(MAX_WORDS);
    let words = words.map(|word| word.chars().take(MAX_WORD_CHARS).collect());
    let request = RowsRequest {
        offset: query.offset,
        count: TABLE_PAGE_ROWS,
        columns: MAX_COLUMNS,
        order,
        words: words.collect(),
    };
    let page = rows.page(request).await.map_err(|error| not_read(error.kind))?;
    Ok(TablePage {
        rows: page.rows.iter().map(|row| shown_row(&to_json(row))).collect(),
        found: page.found,
    })
}

/// Says in the view of a table if its file is gone: then it has only the first rows.
pub async fn complete_view(caller: &Caller, payload: &Payload, view: &mut PanelView) -> Result<(), ApiError> {
    if let PanelBody::Table(shown) = &mut view.body
        && shown.stored_rows.is_some()
    {
        let is_there = match StoredTable::from_payload(payload) {
            Some(table) => load_rows(caller, &table).await?.is_some(),
            None => false,
        };
        if !is_there {
            shown.keep_first_rows(", which are not stored any more");
        }
    }
    Ok(())
}

/// A CSV file that is made while it is sent.
pub struct CsvDownload {
    pub name: String,
    pub lines: BoxStream<'static, io::Result<Bytes>>,
}

/// Returns a table whose rows are in a file as CSV; `None` for other payloads.
pub async fn csv(caller: &Caller, payload: &Payload) -> Result<Option<CsvDownload>, ApiError> {
    let Some(table) = StoredTable::from_payload(payload) else {
        return Ok(None);
    };
    let rows = load_rows(caller, &table).await?.ok_or_else(rows_gone)?;
    // The first rows show whether the file can be read.
    let first = rows.chunk(0).await.map_err(|error| not_read(error.kind))?;
    let names: Vec<Value> = table.columns.iter().map(|name| name.as_str().into()).collect();
    let start = CSV_START.to_owned() + &csv_lines(&[names]);
    let chunks = stream::try_unfold((rows, 0_u64, Some(first)), |(rows, after, known)| async move {
        let chunk = match known {
            Some(chunk) => chunk,
            // The client sees that the file is not complete.
            None => rows.chunk(after).await.map_err(io::Error::other)?,
        };
        if chunk.is_empty() {
            return Ok(None);
        }
        let lines: Vec<Vec<Value>> = chunk.iter().map(|row| to_json(row)).collect();
        let after = after.saturating_add(chunk.len() as u64);
        Ok(Some((Bytes::from(csv_lines(&lines)), (rows, after, None))))
    });
    let start = stream::once(async move { Ok(Bytes::from(start)) });
    Ok(Some(CsvDownload {
        name: titled_name(&table.title, payload, "csv"),
        lines: start.chain(chunks).boxed(),
    }))
}

async fn load_rows(caller: &Caller, table: &StoredTable) -> Result<Option<StoredRows>, ApiError> {
    let data = caller.app.pages.get::<Data>()?;
    Ok(data.load_rows(caller.user_id, table).await?)
}

fn to_json(row: &[Cell]) -> Vec<Value> {
    row.iter().map(Cell::to_json).collect()
}

fn bad_request(message: &str) -> ApiError {
    ApiError::new(ErrorCode::BadRequest, message)
}

fn rows_gone() -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        "The rows of this table are not stored any more. Ask for the query to be run again.",
    )
}

/// Returns the error for rows that can't be read. The log has the cause.
fn not_read(kind: QueryErrorKind) -> ApiError {
    let (code, message) = match kind {
        QueryErrorKind::Busy => (
            ErrorCode::TooManyRequests,
            "Too many tables are being read just now. Try again in a moment.",
        ),
        QueryErrorKind::Timeout(_) => (
            ErrorCode::Unavailable,
            "Reading the rows took too long (setting data.query_timeout). Filter by other words, or don’t sort.",
        ),
        QueryErrorKind::TooLarge => (
            ErrorCode::Unavailable,
            "Sorting these rows needs too much memory (setting data.query_memory_bytes). Filter them first, or don’t sort.",
        ),
        QueryErrorKind::Invalid | QueryErrorKind::Refused | QueryErrorKind::Unavailable => (
            ErrorCode::Internal,
            "The rows of this table can’t be read: their file is damaged or missing. Ask for the query to be run again.",
        ),
    };
    ApiError::new(code, message)
}
