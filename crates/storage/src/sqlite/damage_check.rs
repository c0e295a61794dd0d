//! The damage check: SQLite's `quick_check` of the whole database, on its own connection.
//!
//! It goes table by table, because a long read blocks checkpoints and the write-ahead log grows meanwhile.

use std::time::Duration;

use sqlx::{AssertSqlSafe, ConnectOptions, Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::{StorageError, StorageErrorKind};

/// The limit of reported errors. One is enough to know that the database is damaged.
const MAX_REPORTED_DAMAGE: usize = 20;

/// The number of SQLite instructions between two checks for cancellation.
const PROGRESS_HANDLER_STEPS: i32 = 10_000;

/// The longest pause after a table. The pause lets a checkpoint run, which starts a second after a commit.
const MAX_PAUSE_BETWEEN_TABLES: Duration = Duration::from_secs(2);

/// All tables, the schema table first.
const SELECT_TABLES: &str =
    "SELECT 'sqlite_schema' UNION ALL SELECT name FROM sqlite_schema WHERE type = 'table'";

/// Reads all used pages and returns the errors found: empty if the database is intact, or if the check was
/// stopped early.
pub(crate) async fn find_damage(
    options: &SqliteConnectOptions,
    stop: CancellationToken,
) -> Result<Vec<String>, StorageError> {
    let mut connection = options.clone().read_only(true).connect().await?;
    let is_stopped = stop.clone();
    connection
        .lock_handle()
        .await?
        .set_progress_handler(PROGRESS_HANDLER_STEPS, move || !is_stopped.is_cancelled());
    let found = stop.run_until_cancelled(check_tables(&mut connection)).await;
    // The result does not depend on closing.
    let _ = connection.close().await;
    match found {
        Some(found) if !stop.is_cancelled() => found,
        _ => Ok(Vec::new()),
    }
}

async fn check_tables(connection: &mut SqliteConnection) -> Result<Vec<String>, StorageError> {
    let mut found = Vec::new();
    let tables = sqlx::query_scalar::<_, String>(SELECT_TABLES).fetch_all(&mut *connection);
    for table in collect_damage("the list of tables", tables.await, &mut found)? {
        let began = Instant::now();
        // Table names come from the migrations only.
        let check = format!("PRAGMA quick_check('{}')", table.replace('\'', "''"));
        let lines = sqlx::query_scalar::<_, String>(AssertSqlSafe(check)).fetch_all(&mut *connection);
        let lines = collect_damage(&table, lines.await, &mut found)?;
        found.extend(lines.into_iter().filter(|line| line != "ok"));
        if found.len() >= MAX_REPORTED_DAMAGE {
            found.truncate(MAX_REPORTED_DAMAGE);
            break;
        }
        sleep(began.elapsed().min(MAX_PAUSE_BETWEEN_TABLES)).await;
    }
    Ok(found)
}

/// Returns the result of a query about `place`. On damage, adds it to `found` and returns nothing.
fn collect_damage(
    place: &str,
    read: Result<Vec<String>, sqlx::Error>,
    found: &mut Vec<String>,
) -> Result<Vec<String>, StorageError> {
    read.map_err(StorageError::from)
        .or_else(|error| match error.kind() {
            StorageErrorKind::Damaged => {
                found.push(format!("{place}: {error}"));
                Ok(Vec::new())
            }
            _ => Err(error),
        })
}
