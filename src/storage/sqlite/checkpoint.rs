//! Moves what is committed from the write-ahead log into the database file, beside the commits and not in them:
//! SQLite's own automatic checkpoints would make the commit that happens to fill the log wait for two syncs.

use std::{sync::Weak, time::Duration};

use sqlx::{Row, SqliteConnection};
use tokio::{
    sync::{Mutex, watch},
    time::sleep,
};

use super::Writer;

/// How long commits gather before their pages are copied: a page that several of them wrote is copied once.
const GATHER: Duration = Duration::from_secs(1);

/// How many pages (of 4 KiB) the log may have before commits are held up, for as long as it takes to copy the last few
/// and begin it anew. Without that, a server that never rests would let it grow for ever.
const MAX_PAGES: i64 = 16_384;

/// Copies after commits until the writer is gone. `connection` is its own, `committed` changes with each commit.
pub(super) async fn run(
    mut connection: SqliteConnection,
    writer: Weak<Mutex<Writer>>,
    mut committed: watch::Receiver<()>,
) {
    while committed.changed().await.is_ok() {
        sleep(GATHER).await;
        crash_point!("checkpoint::beginning");
        let copied = match checkpoint(&mut connection, "PRAGMA wal_checkpoint(PASSIVE)").await {
            Ok(pages) if pages > MAX_PAGES => {
                let Some(writer) = writer.upgrade() else { return };
                let _no_commits = writer.lock().await;
                checkpoint(&mut connection, TRUNCATE).await
            }
            done => done,
        };
        crash_point!("checkpoint::copied");
        if let Err(error) = copied {
            // Nothing is lost: the write-ahead log is as durable as the file. It only goes on growing.
            tracing::error!(%error, "could not checkpoint the database");
        }
    }
}

/// Copies everything and empties the log.
pub(super) const TRUNCATE: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// Gives how many pages the log had.
pub(super) async fn checkpoint(
    connection: &mut SqliteConnection,
    pragma: &'static str,
) -> Result<i64, sqlx::Error> {
    // One row: whether it was blocked, the pages in the log, those of them that are copied.
    sqlx::query(pragma).fetch_one(connection).await?.try_get(1)
}
