//! The connection that writes. See [`commit`](super::commit) for the statements.

use std::{
    collections::{BTreeMap, HashSet},
    time::Duration,
};

use sqlx::{Connection as _, PgConnection};
use tokio::sync::watch;

use super::{
    commit::search::index_pending,
    database::{Connection, Connector, query},
    trim,
};
use crate::{StorageError, data_folder::DataFolderLock, jobs::Owner, sqlite::checkpoint};
use parlor_protocol::{MessageId, Position, Timestamp, UserId};

/// The only connection of this process that writes, with the state that writing needs.
#[derive(Debug)]
pub(crate) struct WriteConnection {
    pub(crate) connector: Connector,
    /// `None` after a failed transaction: the connection's state is unknown then, and the next transaction
    /// opens a new one.
    pub(crate) connection: Option<Connection>,
    /// Runs whose conversation was deleted while they were active. Their further output is dropped.
    pub(super) orphaned_runs: HashSet<MessageId>,
    /// This process, which takes runs and jobs.
    pub(super) owner: Owner,
    /// The last positions of the logs that were written to, as long as no other connection writes.
    pub(crate) last_positions: BTreeMap<UserId, Position>,
    /// Notified of each commit.
    pub(crate) commits: watch::Sender<()>,
    /// The number of commits that deleted user data or the row of a file.
    pub(crate) deletion_count: watch::Sender<u64>,
    /// The lock on the data folder. `None` once the storage is closed: nothing can be written then.
    pub(crate) lock: Option<DataFolderLock>,
    /// The connection that locks a database of Postgres for this process, until the storage is closed.
    pub(crate) process_lock: Option<PgConnection>,
    /// The lease of this node; `None` if it is the only process.
    pub(crate) lease: Option<Lease>,
}

/// The lease under which a node commits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    pub(super) length: Duration,
    /// True from the refusal of a commit until the next lease begins.
    pub(super) is_lost: bool,
}

impl Lease {
    /// Returns a lease that has not begun.
    pub(crate) fn new(length: Duration) -> Self {
        Self {
            length,
            is_lost: true,
        }
    }
}

impl WriteConnection {
    /// Creates the writer around its first connection.
    pub(crate) fn new(connector: Connector, connection: Connection, lock: DataFolderLock) -> Self {
        Self {
            connector,
            connection: Some(connection),
            orphaned_runs: HashSet::new(),
            owner: Owner::of_new_process(),
            last_positions: BTreeMap::new(),
            commits: watch::Sender::default(),
            deletion_count: watch::Sender::default(),
            lock: Some(lock),
            process_lock: None,
            lease: None,
        }
    }

    /// Begins a lease under a new id.
    pub(crate) fn begin_lease(&mut self, owner: Owner) {
        self.owner = owner;
        if let Some(lease) = &mut self.lease {
            lease.is_lost = false;
        }
    }

    /// Takes the connection out. The caller returns it with [`return_connection`](Self::return_connection).
    pub(crate) async fn take_connection(&mut self) -> Result<Connection, StorageError> {
        match self.connection.take() {
            Some(connection) => Ok(connection),
            None if self.lock.is_none() => Err(StorageError::Closed),
            None => {
                // A commit that failed, or for whose end nobody has waited, may be stored nevertheless.
                self.last_positions.clear();
                Ok(self.connector.connect().await?)
            }
        }
    }

    /// Returns the options for another connection that writes.
    pub(super) fn connector(&self) -> Result<Connector, StorageError> {
        match self.lock {
            Some(_) => Ok(self.connector.clone()),
            None => Err(StorageError::Closed),
        }
    }

    /// Puts the connection back for the next transaction, if the last one succeeded.
    pub(crate) async fn return_connection(&mut self, went_well: bool, connection: Connection) {
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

    /// Closes the connection and releases the data folder. SQLite's write-ahead log is copied into the database file before, and
    /// emptied.
    pub(super) async fn close(&mut self) -> Result<(), StorageError> {
        let mut connection = self.take_connection().await?;
        let copied = match connection.sqlite() {
            Some(sqlite) => checkpoint::checkpoint(sqlite, checkpoint::CHECKPOINT_TRUNCATE)
                .await
                .map(drop),
            None => Ok(()),
        };
        let closed = connection.close().await;
        self.lock = None;
        if let Some(lock) = self.process_lock.take() {
            lock.close().await?;
        }
        copied?;
        Ok(closed?)
    }
}

/// Begins a transaction that writes. After an error the connection must be closed.
pub(super) const BEGIN: &str = "BEGIN IMMEDIATE";

async fn index_old_data(connection: &mut Connection) -> Result<bool, StorageError> {
    query(BEGIN).execute(&mut *connection).await?;
    let indexed = index_pending(&mut *connection, false).await?;
    query("COMMIT").execute(connection).await?;
    Ok(indexed > 0)
}
