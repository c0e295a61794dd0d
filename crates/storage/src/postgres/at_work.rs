//! The nodes that are at work on a database, as a process that is about to use it sees them: by their leases.

use std::time::Duration;

use sqlx::{AssertSqlSafe, Executor, PgConnection, Row};
use tokio::time::sleep;

use super::nodes::NOW;
use crate::StorageError;

/// The version of the tables that a node knows which does not say it.
const SILENT_VERSION: i64 = 51;

/// The time between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Returns the oldest version of the tables that a node at work knows; `None` if no lease is valid. Behind a pooler, where no lock keeps
/// others away, only leases say so.
pub(crate) async fn oldest_at_work(connection: &mut PgConnection) -> Result<Option<i64>, StorageError> {
    // A database of an early version has no such column, and an empty one no such table.
    let columns = "SELECT count(*) FILTER (WHERE attname = 'id') > 0, count(*) FILTER (WHERE attname = 'tables') > 0 \
                   FROM pg_attribute WHERE attrelid = to_regclass('nodes') AND NOT attisdropped";
    let row = connection.fetch_one(sqlx::raw_sql(columns)).await?;
    let (has_nodes, has_versions): (bool, bool) = (row.try_get(0)?, row.try_get(1)?);
    if !has_nodes {
        return Ok(None);
    }
    let version = match has_versions {
        true => format!("coalesce(tables, {SILENT_VERSION})"),
        false => SILENT_VERSION.to_string(),
    };
    let select = format!("SELECT min({version})::bigint FROM nodes WHERE expires_at >= {NOW}");
    let row = connection.fetch_one(sqlx::raw_sql(AssertSqlSafe(select))).await?;
    Ok(row.try_get(0)?)
}

/// Waits for the ends of leases that nobody extends any more: those of nodes that were killed.
///
/// # Errors
///
/// If nodes are at work.
pub(crate) async fn wait_for_no_lease(connection: &mut PgConnection) -> Result<(), StorageError> {
    let mut first = None;
    while let Some(end) = last_end(connection).await? {
        if *first.get_or_insert(end) < end {
            return Err(StorageError::NodesAtWork);
        }
        sleep(LOOK_AGAIN).await;
    }
    Ok(())
}

/// Returns the time at which the last valid lease ends, by the database's clock; `None` if none is valid.
async fn last_end(connection: &mut PgConnection) -> Result<Option<i64>, StorageError> {
    if oldest_at_work(&mut *connection).await?.is_none() {
        return Ok(None);
    }
    let select = format!("SELECT max(expires_at) FROM nodes WHERE expires_at >= {NOW}");
    let row = connection.fetch_one(sqlx::raw_sql(AssertSqlSafe(select))).await?;
    Ok(row.try_get(0)?)
}
