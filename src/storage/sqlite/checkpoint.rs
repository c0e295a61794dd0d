//! Moves what is committed from the write-ahead log into the database file, beside the commits and not in them:
//! SQLite's own automatic checkpoints would make the commit that happens to fill the log wait for two syncs.
//!
//! Copying leaves the log's old pages where they are until they are written over. After something was deleted the log is emptied.

use std::{sync::Weak, time::Duration};

use sqlx::{Row, SqliteConnection};
use tokio::{
    sync::{Mutex, watch},
    time::{Instant, sleep, sleep_until},
};

use super::WriteConnection;

/// How long commits gather before their pages are copied: a page that several of them wrote is copied once.
const CHECKPOINT_DELAY: Duration = Duration::from_secs(1);

/// How many pages (of 4 KiB) the log may have before commits are held up, for as long as it takes to copy the last few
/// and begin it anew. Without that, a server that never rests would let it grow for ever.
const MAX_LOG_PAGES: i64 = 16_384;

/// How long commits are held up at most for readers that still need what is in the log.
pub(super) const TRUNCATE_BUSY_TIMEOUT: Duration = Duration::from_millis(250);

/// How long to wait before the log is emptied that could not be: at first, and at most.
const RETRY_DELAY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// Copies after commits until the writer is gone. `connection` is its own. `deletions` says how many there were, and changes with
/// each commit.
pub(super) async fn run_checkpoints(
    mut connection: SqliteConnection,
    writer: Weak<Mutex<WriteConnection>>,
    mut deletions: watch::Receiver<u64>,
) {
    // What an earlier process has left in the log may have been deleted too.
    let mut erased = None;
    let (mut next, mut delay) = (Instant::now(), RETRY_DELAY.0);
    loop {
        let to_erase = erased != Some(*deletions.borrow());
        let committed = tokio::select! {
            committed = deletions.changed() => match committed {
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
                        tracing::warn!("somebody reads the write-ahead log, which is to be emptied");
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
            // Nothing is lost: the write-ahead log is as durable as the file. It only goes on growing.
            Err(error) => tracing::error!(%error, "could not checkpoint the database"),
        }
        next = Instant::now() + delay;
        delay = (delay * 2).min(RETRY_DELAY.1);
    }
}

/// Copies what nobody needs to be waited for.
const CHECKPOINT_PASSIVE: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// Copies everything and empties the log.
pub(super) const CHECKPOINT_TRUNCATE: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// What a checkpoint has found.
pub(super) struct CheckpointResult {
    /// Somebody still needs the log: not all that was asked for could be done.
    pub is_blocked: bool,
    /// How many pages the log had.
    pub log_pages: i64,
}

pub(super) async fn checkpoint(
    connection: &mut SqliteConnection,
    pragma: &'static str,
) -> Result<CheckpointResult, sqlx::Error> {
    // One row: whether it was blocked, the pages in the log, those of them that are copied.
    let row = sqlx::query(pragma).fetch_one(connection).await?;
    Ok(CheckpointResult {
        is_blocked: row.try_get(0)?,
        log_pages: row.try_get(1)?,
    })
}
