//! Checkpoints: copies committed pages from the write-ahead log into the database file, without stopping commits.
//! SQLite's automatic checkpoints run inside a commit: the commit that fills the log would wait for two
//! syncs.
//!
//! A copy leaves the old pages in the log until they are overwritten. After a deletion the log is therefore
//! emptied.

use std::{sync::Weak, time::Duration};

use sqlx::{Row, SqliteConnection};
use tokio::{
    sync::{Mutex, watch},
    time::{Instant, sleep, sleep_until},
};

use crate::sql::writer::WriteConnection;
use parlor_base::crash_point;

/// The delay before a checkpoint. Commits gather meanwhile, so that a page written by several of them is
/// copied once.
const CHECKPOINT_DELAY: Duration = Duration::from_secs(1);

/// The size of the log in pages of 4 KiB at which commits are blocked, until its last pages are copied and it
/// restarts. Without this limit the log of a server that is never idle would grow without bound.
const MAX_LOG_PAGES: i64 = 16_384;

/// The longest time for which commits are blocked by readers that still need the log.
pub(crate) const TRUNCATE_BUSY_TIMEOUT: Duration = Duration::from_millis(250);

/// The delay before emptying the log is retried: initial and maximum.
const RETRY_DELAY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// Runs checkpoints after commits until the writer is dropped. `connection` is for checkpoints only.
/// `deletions` has the number of deletions so far.
pub(crate) async fn run_checkpoints(
    mut connection: SqliteConnection,
    writer: Weak<Mutex<WriteConnection>>,
    mut commits: watch::Receiver<()>,
    deletions: watch::Receiver<u64>,
) {
    // Data deleted by an earlier process may still be in the log.
    let mut erased = None;
    let (mut next, mut delay) = (Instant::now(), RETRY_DELAY.0);
    loop {
        let to_erase = erased != Some(*deletions.borrow());
        let committed = tokio::select! {
            committed = commits.changed() => match committed {
                Ok(()) => true,
                Err(_) => return,
            },
            () = sleep_until(next), if to_erase => false,
        };
        sleep(CHECKPOINT_DELAY).await;
        crash_point!("checkpoint::beginning", if committed);
        let to_erase = erased != Some(*deletions.borrow()) && Instant::now() >= next;
        let copied = match checkpoint(&mut connection, CHECKPOINT_PASSIVE).await {
            Ok(log) if log.log_pages > MAX_LOG_PAGES || to_erase => {
                let Some(writer) = writer.upgrade() else { return };
                let _no_commits = writer.lock().await;
                let until_now = *deletions.borrow();
                let emptied = checkpoint(&mut connection, CHECKPOINT_TRUNCATE).await;
                match &emptied {
                    Ok(log) if log.is_blocked => {
                        tracing::warn!("a reader still needs the write-ahead log: emptying it is retried");
                    }
                    Ok(_) => (erased, delay) = (Some(until_now), RETRY_DELAY.0),
                    Err(_) => {}
                }
                emptied
            }
            done => done,
        };
        crash_point!("checkpoint::copied", if committed);
        match copied {
            Ok(log) if !log.is_blocked => continue,
            Ok(_) => {}
            // Nothing is lost: the write-ahead log is as durable as the file. It only keeps growing.
            Err(error) => tracing::error!(%error, "could not checkpoint the database"),
        }
        next = Instant::now() + delay;
        delay = (delay * 2).min(RETRY_DELAY.1);
    }
}

/// Copies the pages that can be copied without waiting.
const CHECKPOINT_PASSIVE: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// Copies all pages and empties the log.
pub(crate) const CHECKPOINT_TRUNCATE: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// The result of a checkpoint.
pub(crate) struct CheckpointResult {
    /// True if a reader or writer still needs the log, so the checkpoint is incomplete.
    pub is_blocked: bool,
    /// The size of the log in pages.
    pub log_pages: i64,
}

pub(crate) async fn checkpoint(
    connection: &mut SqliteConnection,
    pragma: &'static str,
) -> Result<CheckpointResult, sqlx::Error> {
    // One row: blocked or not, the pages in the log, the copied pages.
    let row = sqlx::query(pragma).fetch_one(connection).await?;
    Ok(CheckpointResult {
        is_blocked: row.try_get(0)?,
        log_pages: row.try_get(1)?,
    })
}
