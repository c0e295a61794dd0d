//! Readers of a row's columns, any of which may be damaged.

use std::{fmt::Display, str::FromStr};

use crate::sql::database::Row;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::{StorageError, damage::skip_damaged};
use parlor_protocol::Position;

/// Reads an id.
pub(super) fn id<T: FromStr<Err = uuid::Error>>(row: &Row, column: &str) -> Result<T, StorageError> {
    Ok(row.try_get::<String>(column)?.parse()?)
}

/// Reads an id that may be null.
pub(super) fn optional_id<T: FromStr<Err = uuid::Error>>(
    row: &Row,
    column: &str,
) -> Result<Option<T>, StorageError> {
    let id = row.try_get::<Option<String>>(column)?;
    Ok(id.map(|id| id.parse()).transpose()?)
}

/// Reads a text for display. Replaces bytes that are not UTF-8.
pub(super) fn text(row: &Row, column: &str) -> Result<String, StorageError> {
    Ok(optional_text(row, column)?.unwrap_or_default())
}

/// Reads a text that may be null.
pub(super) fn optional_text(row: &Row, column: &str) -> Result<Option<String>, StorageError> {
    Ok(row.try_get_lossy(column)?)
}

/// Reads a number; 0 if it is unreadable. `id` names the row in the log.
pub(super) fn number_or_zero(
    table: &'static str,
    id: impl Display,
    row: &Row,
    column: &str,
) -> Result<i64, StorageError> {
    let read = row.try_get(column).map_err(StorageError::from);
    Ok(skip_damaged(table, id, read)?.unwrap_or_default())
}

/// Reads a JSON value.
pub(super) fn json<T: DeserializeOwned>(row: &Row, column: &str) -> Result<T, StorageError> {
    Ok(serde_json::from_str(&row.try_get::<String>(column)?)?)
}

/// Reads a JSON array that the database aggregated from several rows. Skips damaged elements.
pub(super) fn json_array<T: DeserializeOwned>(
    row: &Row,
    column: &str,
    table: &'static str,
) -> Result<Vec<T>, StorageError> {
    let rows = row.try_get_made_json(column)?.unwrap_or_default();
    let rows = serde_json::from_str::<Vec<&RawValue>>(&rows).map_err(StorageError::from);
    let rows = skip_damaged(table, "all", rows)?.unwrap_or_default();
    let read = |row: &&RawValue| {
        let read = serde_json::from_str(row.get()).map_err(StorageError::from);
        skip_damaged(table, row, read)
    };
    let rows = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    Ok(rows.into_iter().flatten().collect())
}

/// Reads all rows of a query except the damaged ones. The column `id` names a row in the log.
pub(super) fn read_undamaged_rows<T>(
    table: &'static str,
    id: &str,
    rows: &[Row],
    read: impl Fn(&Row) -> Result<T, StorageError>,
) -> Result<Vec<T>, StorageError> {
    let mut all = Vec::with_capacity(rows.len());
    for row in rows {
        all.extend(skip_damaged(table, text(row, id)?, read(row))?);
    }
    Ok(all)
}

/// Reads a position that may be null.
pub(super) fn optional_position(row: &Row, column: &str) -> Result<Option<Position>, StorageError> {
    let position = row.try_get::<Option<i64>>(column)?;
    Ok(position.map(|position| Position(position.unsigned_abs())))
}

/// Reads a position.
pub(super) fn position(row: &Row, column: &str) -> Result<Position, StorageError> {
    Ok(Position(row.try_get::<i64>(column)?.unsigned_abs()))
}
