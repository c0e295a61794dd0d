//! The connection that writes. See [`commit`](super::commit) for the statements.

use std::collections::{BTreeMap, HashSet};

use sqlx::{ConnectOptions, Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::sync::watch;

use super::{checkpoint, commit::search::index_pending, data_folder::DataFolderLock, trim};
use crate::StorageError;
use parlor_protocol::{MessageId, Position, Timestamp, UserId};

/// The only connection that writes, with the state that writing needs.
#[derive(Debug)]
pub(super) struct WriteConnection {
    pub(super) options: SqliteConnectOptions,
    /// `None` after a failed transaction: the connection's state is unknown then, and the next transaction
    /// opens a new one.
    pub(super) connection: Option<SqliteConnection>,
    /// Runs whose conversation was deleted while they were active. Their further output is dropped.
    pub(super) orphaned_runs: HashSet<MessageId>,
    /// The last positions of the logs that were written to. No other connection writes.
    pub(super) last_positions: BTreeMap<UserId, Position>,
    /// Notified of each commit.
    pub(super) commits: watch::Sender<()>,
    /// The number of commits that deleted user data or the row of a file.
    pub(super) deletion_count: watch::Sender<u64>,
    /// The lock on the data folder. `None` once the storage is closed: nothing can be written then.
    pub(super) lock: Option<DataFolderLock>,
}

impl WriteConnection {
    /// Takes the connection out. The caller returns it with [`return_connection`](Self::return_connection).
    pub(super) async fn take_connection(&mut self) -> Result<SqliteConnection, StorageError> {
        match self.connection.take() {
            Some(connection) => Ok(connection),
            None if self.lock.is_none() => Err(StorageError::Closed),
            None => {
                // A commit that failed, or for whose end nobody has waited, may be stored nevertheless.
                self.last_positions.clear();
                Ok(self.options.connect().await?)
            }
        }
    }

    /// Puts the connection back for the next transaction, if the last one succeeded.
    pub(super) async fn return_connection(&mut self, went_well: bool, connection: SqliteConnection) {
        if went_well {
            self.connection = Some(connection);
        } else {
            // Closing can lose only uncommitted data.
            let _ = connection.close().await;
        }
    }

    pub(super) async fn trim_log(&mut self, before: Timestamp, keep: u64) -> Result<u64, StorageError> {
        let mut connection = self.take_connection().await?;
        let trimmed = trim::trim_log(&mut connection, before, keep).await;
        self.return_connection(trimmed.is_ok(), connection).await;
        trimmed
    }

    /// Indexes some of the data that is not searchable yet. Returns false if there was none.
    pub(super) async fn index_old_data(&mut self) -> Result<bool, StorageError> {
        let mut connection = self.take_connection().await?;
        let indexed = index_old_data(&mut connection).await;
        self.return_connection(indexed.is_ok(), connection).await;
        if indexed.is_ok() {
            self.commits.send_replace(());
        }
        indexed
    }

    /// Copies all of the write-ahead log into the database file, empties it, and releases the data folder.
    pub(super) async fn close(&mut self) -> Result<(), StorageError> {
        let mut connection = self.take_connection().await?;
        let copied = checkpoint::checkpoint(&mut connection, checkpoint::CHECKPOINT_TRUNCATE).await;
        let closed = connection.close().await;
        self.lock = None;
        copied?;
        Ok(closed?)
    }
}

async fn index_old_data(connection: &mut SqliteConnection) -> Result<bool, StorageError> {
    let mut tx = connection.begin_with("BEGIN IMMEDIATE").await?;
    let indexed = index_pending(&mut tx, false).await?;
    tx.commit().await?;
    Ok(indexed > 0)
}
