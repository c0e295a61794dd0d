//! The connection that writes. See [`commit`](super::commit) for the statements.

use std::{
    collections::{BTreeMap, HashSet},
    time::Duration,
};

use tokio::{sync::watch, time::timeout};

use super::{
    commit::search::index_pending,
    database::{Connection, Connector, dialect, query},
    trim,
};
use crate::{
    StorageError, data_folder::DataFolderLock, jobs::Owner, postgres::process_lock::ProcessLock,
    sqlite::checkpoint,
};
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
    pub(crate) owner: Owner,
    /// The last positions of the logs that were written to, as long as no other connection writes.
    pub(crate) last_positions: BTreeMap<UserId, Position>,
    /// Notified of each commit.
    pub(crate) commits: watch::Sender<()>,
    /// The number of commits that deleted user data or the row of a file.
    pub(crate) deletion_count: watch::Sender<u64>,
    /// The lock on the data folder. `None` once the storage is closed: nothing can be written then.
    pub(crate) lock: Option<DataFolderLock>,
    /// The connection that locks a database of Postgres for this process, until the storage is closed.
    pub(crate) process_lock: Option<ProcessLock>,
    /// The lease of this process on a database of Postgres.
    pub(crate) lease: Option<Lease>,
}

/// The lease under which a process commits to Postgres: a row that another process deletes when it takes over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    /// `None` if this is the only process, whose lease has no end.
    pub(super) length: Option<Duration>,
    /// True from the refusal of a commit until the next lease begins.
    pub(super) is_lost: bool,
    /// True if other nodes are told of commits.
    pub(super) has_notifications: bool,
    /// The maximum number of active runs of a user at all nodes.
    pub(super) max_runs: Option<usize>,
}

impl Lease {
    /// Returns a lease that has not begun.
    pub(crate) fn new(length: Duration, has_notifications: bool, max_runs: Option<usize>) -> Self {
        Self {
            length: Some(length),
            is_lost: true,
            has_notifications,
            max_runs,
        }
    }

    /// Returns the lease of the only process, which begins with its row.
    pub(crate) fn of_only_process() -> Self {
        Self {
            length: None,
            is_lost: false,
            has_notifications: false,
            max_runs: None,
        }
    }

    /// Returns true if there may be other processes.
    pub(super) fn has_nodes(&self) -> bool {
        self.length.is_some()
    }

    /// Begins a transaction, and keeps the lease from being ended during it. Returns the process's number of the transaction.
    ///
    /// # Errors
    ///
    /// If the lease has ended.
    pub(super) async fn begin(
        &mut self,
        connection: &mut Connection,
        owner: Owner,
    ) -> Result<i64, StorageError> {
        if self.is_lost {
            return Err(StorageError::LeaseLost);
        }
        let (lock, max_idle) = match self.length {
            Some(length) => (dialect::LOCK_LEASE_ON_POSTGRES, length / 2),
            None => (dialect::LOCK_PROCESS_ON_POSTGRES, MAX_IDLE),
        };
        begin(&mut *connection, Some(max_idle)).await?;
        let row = query(lock).bind_value(owner).fetch_optional(connection).await?;
        let Some(row) = row else {
            self.is_lost = true;
            return Err(StorageError::LeaseLost);
        };
        Ok(row.try_get("number")?)
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
                let connection = self.connect().await?;
                if let Some(lock) = &mut self.process_lock
                    && let Err(error) = within(Some(LOCK_TIMEOUT), lock.keep()).await
                {
                    // Of two processes, the lease decides.
                    tracing::warn!(%error, "the database is not locked for this process");
                }
                Ok(connection)
            }
        }
    }

    /// Opens a connection; with nodes, within the length of a lease.
    pub(super) async fn connect(&self) -> Result<Connection, StorageError> {
        let connecting = async { Ok(self.connector.connect().await?) };
        within(self.time_limit(), connecting).await
    }

    /// Returns the longest time for each part of a commit. A single process waits as long as it takes: nobody waits for its end.
    pub(super) fn time_limit(&self) -> Option<Duration> {
        let length = self.lease.and_then(|lease| lease.length)?;
        Some(time_limit(length))
    }

    /// Returns the longest time for work that nobody waits for, during which commits wait.
    fn background_limit(&self) -> Option<Duration> {
        self.time_limit().map(|limit| limit * 5)
    }

    /// Begins a transaction that writes, besides the commits of changes.
    async fn begin(&mut self, connection: &mut Connection) -> Result<(), StorageError> {
        match &mut self.lease {
            Some(lease) => lease.begin(connection, self.owner).await.map(drop),
            None => begin(connection, None).await,
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
            self.close_connection(connection).await;
        }
    }

    /// Closes a connection in whatever state: only uncommitted data is lost.
    pub(super) async fn close_connection(&self, connection: Connection) {
        let closing = async { Ok(connection.close().await?) };
        let _ = within(self.time_limit(), closing).await;
    }

    pub(super) async fn trim_log(&mut self, before: Timestamp, keep: u64) -> Result<u64, StorageError> {
        let limit = self.background_limit();
        let mut connection = self.take_connection().await?;
        let trimmed = within(limit, async {
            self.begin(&mut connection).await?;
            trim::trim_log(&mut connection, before, keep).await
        })
        .await;
        self.return_connection(trimmed.is_ok(), connection).await;
        trimmed
    }

    /// Indexes some of the data that is not searchable yet. Returns false if there was none.
    pub(super) async fn index_old_data(&mut self) -> Result<bool, StorageError> {
        let limit = self.background_limit();
        let mut connection = self.take_connection().await?;
        let indexed = within(limit, async {
            self.begin(&mut connection).await?;
            index_old_data(&mut connection).await
        })
        .await;
        self.return_connection(indexed.is_ok(), connection).await;
        // Without a change nobody is woken: whoever waits for changes would ask again at once, for ever.
        if matches!(indexed, Ok(true)) {
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
            lock.release().await?;
        }
        copied?;
        Ok(closed?)
    }
}

/// The shortest time for a part of a commit.
const MIN_TIME_LIMIT: Duration = Duration::from_secs(1);

/// Returns the longest time for a part of a commit, and for a statement, under a lease of this length.
pub(crate) fn time_limit(lease: Duration) -> Duration {
    lease.max(MIN_TIME_LIMIT)
}

/// The longest wait for the lock of the database when it is taken again.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The longest pause of the only process within a transaction, after which Postgres ends it: the next process must not wait for one that
/// sleeps.
const MAX_IDLE: Duration = Duration::from_secs(60);

/// Begins a transaction that writes. After an error the connection must be closed.
pub(super) const BEGIN: &str = "BEGIN IMMEDIATE";

/// Begins a transaction that writes. With nodes, Postgres ends it when it is idle for this time: one of a paused process would keep
/// others from its rows.
pub(super) async fn begin(
    connection: &mut Connection,
    max_idle: Option<Duration>,
) -> Result<(), StorageError> {
    let statement = match max_idle {
        Some(idle) => format!(
            "BEGIN; SET LOCAL idle_in_transaction_session_timeout = {}",
            idle.as_millis()
        ),
        None => BEGIN.to_owned(),
    };
    query(statement).execute(connection).await?;
    Ok(())
}

/// Waits for a part of a commit, at most for this time.
///
/// # Errors
///
/// Its own, or one of a lost connection when the time is over. The state of the connection is unknown then.
pub(crate) async fn within<T>(
    limit: Option<Duration>,
    work: impl Future<Output = Result<T, StorageError>>,
) -> Result<T, StorageError> {
    let Some(limit) = limit else {
        return work.await;
    };
    let late = || sqlx::Error::Io(std::io::ErrorKind::TimedOut.into());
    timeout(limit, work).await.map_err(|_| late())?
}

/// Indexes some data in an open transaction, and commits it.
async fn index_old_data(connection: &mut Connection) -> Result<bool, StorageError> {
    let indexed = index_pending(&mut *connection, false).await?;
    query("COMMIT").execute(connection).await?;
    Ok(indexed > 0)
}
