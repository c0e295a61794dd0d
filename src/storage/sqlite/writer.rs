//! The connection that writes. What is written with it, [`commit`](super::commit) says.

use std::collections::HashSet;

use sqlx::{ConnectOptions, Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::sync::watch;

use super::{checkpoint, trim};
use crate::{
    protocol::{MessageId, Timestamp},
    storage::StorageError,
};

/// The only connection that writes, and what has to be known to write.
#[derive(Debug)]
pub(super) struct WriteConnection {
    pub(super) options: SqliteConnectOptions,
    /// Nothing after a transaction has failed: then nobody knows in which state the connection is, and the next one
    /// begins with a new one.
    pub(super) connection: Option<SqliteConnection>,
    /// Runs whose conversation was deleted while they were at work: what they still send is dropped.
    pub(super) orphaned_runs: HashSet<MessageId>,
    /// How many conversations and memories were deleted. Told with each commit.
    pub(super) deletion_count: watch::Sender<u64>,
}

impl WriteConnection {
    /// The connection to work with. Who took it gives it back with [`keep_if`](Self::keep_if).
    pub(super) async fn take_connection(&mut self) -> Result<SqliteConnection, StorageError> {
        match self.connection.take() {
            Some(connection) => Ok(connection),
            None => Ok(self.options.connect().await?),
        }
    }

    /// Keeps the connection for the next one, if what was done with it went well.
    pub(super) async fn return_connection(&mut self, went_well: bool, connection: SqliteConnection) {
        if went_well {
            self.connection = Some(connection);
        } else {
            // Whatever that may lose was not committed.
            let _ = connection.close().await;
        }
    }

    pub(super) async fn trim_log(&mut self, before: Timestamp, keep: u64) -> Result<u64, StorageError> {
        let mut connection = self.take_connection().await?;
        let trimmed = trim::trim_log(&mut connection, before, keep).await;
        self.return_connection(trimmed.is_ok(), connection).await;
        trimmed
    }

    /// Copies all of the write-ahead log into the database file and empties it.
    pub(super) async fn truncate_wal(&mut self) -> Result<(), StorageError> {
        let mut connection = self.take_connection().await?;
        let copied = checkpoint::checkpoint(&mut connection, checkpoint::CHECKPOINT_TRUNCATE).await;
        self.return_connection(copied.is_ok(), connection).await;
        copied?;
        Ok(())
    }
}
