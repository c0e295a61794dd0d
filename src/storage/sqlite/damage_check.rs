//! The search for damage: SQLite's own check of everything that is stored, on a connection of its own.
//!
//! Table by table: what is read at a time holds up the copying of the write-ahead log, which grows meanwhile.

use std::time::Duration;

use sqlx::{AssertSqlSafe, ConnectOptions, Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::storage::{StorageError, StorageErrorKind};

/// Kinds of damage that are told of. One is enough to know that there is some.
const MAX_REPORTED_DAMAGE: usize = 20;

/// SQLite's instructions that pass before it is asked whether to go on.
const PROGRESS_HANDLER_STEPS: i32 = 10_000;

/// The longest pause after a table, in which the log can be copied: that is begun a second after a commit.
const MAX_PAUSE_BETWEEN_TABLES: Duration = Duration::from_secs(2);

/// All tables, the list of them first.
const SELECT_TABLES: &str =
    "SELECT 'sqlite_schema' UNION ALL SELECT name FROM sqlite_schema WHERE type = 'table'";

/// Reads all pages with something in them, and returns what is wrong with them: nothing if all is well, or if it was stopped before it
/// came to the end.
pub(super) async fn find_damage(
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
    // Nothing depends on how it ends.
    let _ = connection.close().await;
    match found {
        Some(found) if !stop.is_cancelled() => found,
        _ => Ok(Vec::new()),
    }
}

async fn check_tables(connection: &mut SqliteConnection) -> Result<Vec<String>, StorageError> {
    let mut found = Vec::new();
    let tables = sqlx::query_scalar::<_, String>(SELECT_TABLES).fetch_all(&mut *connection);
    for table in collect_damage(tables.await, &mut found)? {
        let began = Instant::now();
        // Names are the migrations' own.
        let check = format!("PRAGMA quick_check('{}')", table.replace('\'', "''"));
        let lines = sqlx::query_scalar::<_, String>(AssertSqlSafe(check)).fetch_all(&mut *connection);
        let lines = collect_damage(lines.await, &mut found)?;
        found.extend(lines.into_iter().filter(|line| line != "ok"));
        if found.len() >= MAX_REPORTED_DAMAGE {
            found.truncate(MAX_REPORTED_DAMAGE);
            break;
        }
        sleep(began.elapsed().min(MAX_PAUSE_BETWEEN_TABLES)).await;
    }
    Ok(found)
}

/// What was read; if that met damage, nothing, and the damage is added to what was found.
fn collect_damage(
    read: Result<Vec<String>, sqlx::Error>,
    found: &mut Vec<String>,
) -> Result<Vec<String>, StorageError> {
    read.map_err(StorageError::from)
        .or_else(|error| match error.kind() {
            StorageErrorKind::Damaged => {
                found.push(error.to_string());
                Ok(Vec::new())
            }
            _ => Err(error),
        })
}
