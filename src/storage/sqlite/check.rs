//! The search for damage: SQLite's own check of everything that is stored, on a connection of its own.

use sqlx::{ConnectOptions, Connection, sqlite::SqliteConnectOptions};
use tokio_util::sync::CancellationToken;

use crate::storage::{StorageError, Trouble};

/// How many kinds of damage are told of. One is enough to know that there is some.
const CHECK: &str = "PRAGMA quick_check(20)";

/// How many of SQLite's instructions pass before it is asked whether to go on.
const STEPS: i32 = 10_000;

/// Reads all pages, and returns what is wrong with them: nothing if all is well, or if it was stopped before it came to the end.
pub(super) async fn check(
    options: &SqliteConnectOptions,
    stop: CancellationToken,
) -> Result<Vec<String>, StorageError> {
    let mut connection = options.clone().read_only(true).connect().await?;
    let is_stopped = stop.clone();
    connection
        .lock_handle()
        .await?
        .set_progress_handler(STEPS, move || !is_stopped.is_cancelled());
    let found = sqlx::query_scalar::<_, String>(CHECK)
        .fetch_all(&mut connection)
        .await
        .map_err(StorageError::from);
    // Nothing depends on how it ends.
    let _ = connection.close().await;
    match found {
        _ if stop.is_cancelled() => Ok(Vec::new()),
        Ok(found) => Ok(found.into_iter().filter(|line| line != "ok").collect()),
        Err(error) if error.trouble() == Trouble::Damaged => Ok(vec![error.to_string()]),
        Err(error) => Err(error),
    }
}
