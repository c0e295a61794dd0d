//! The lock that keeps a second process from a database, or lets nodes share it. It lasts as long as a connection, so a restart of the
//! server ends it; what a process stores is guarded by its lease.

use std::time::Duration;

use sqlx::{ConnectOptions, Connection, PgConnection, Row, postgres::PgConnectOptions};

use tokio::time::timeout;

use super::unreachable;
use crate::StorageError;

/// The lock of the only process, which no other program takes by chance.
const LOCK: &str = "SELECT pg_try_advisory_lock(7237964911246)";

/// The same lock, which nodes share.
const SHARED_LOCK: &str = "SELECT pg_try_advisory_lock_shared(7237964911246)";

/// The time that the server gets to notice the end of a former process: attempts, and the wait between two of them.
const ATTEMPTS: (usize, Duration) = (50, Duration::from_millis(100));

/// The longest wait for a sign of the lock's connection.
const PING_TIMEOUT: Duration = Duration::from_millis(500);

/// A lock on a database, with the connection that has it.
#[derive(Debug)]
pub(crate) struct ProcessLock {
    connection: PgConnection,
    options: PgConnectOptions,
    is_shared: bool,
    is_held: bool,
}

impl ProcessLock {
    /// Locks a database for this process, or for nodes.
    ///
    /// # Errors
    ///
    /// If another process uses the database.
    pub async fn take(options: &PgConnectOptions, is_shared: bool) -> Result<Self, StorageError> {
        let connection = options.connect().await.map_err(unreachable)?;
        let mut lock = Self {
            connection,
            options: options.clone(),
            is_shared,
            is_held: false,
        };
        for _ in 0..ATTEMPTS.0 {
            if lock.attempt().await? {
                return Ok(lock);
            }
            tokio::time::sleep(ATTEMPTS.1).await;
        }
        Err(StorageError::DatabaseInUse)
    }

    async fn attempt(&mut self) -> Result<bool, StorageError> {
        let lock = if self.is_shared { SHARED_LOCK } else { LOCK };
        let row = sqlx::query(lock).fetch_one(&mut self.connection).await?;
        self.is_held = row.try_get(0)?;
        Ok(self.is_held)
    }

    /// Takes the lock again if its connection was lost.
    ///
    /// # Errors
    ///
    /// If the server can't be reached, or another process has the lock.
    pub async fn keep(&mut self) -> Result<(), StorageError> {
        // A connection whose other side is gone answers nothing.
        if self.is_held && matches!(timeout(PING_TIMEOUT, self.connection.ping()).await, Ok(Ok(()))) {
            return Ok(());
        }
        self.is_held = false;
        self.connection = self.options.connect().await.map_err(unreachable)?;
        match self.attempt().await? {
            true => Ok(()),
            false => Err(StorageError::DatabaseInUse),
        }
    }

    /// Releases it.
    ///
    /// # Errors
    ///
    /// If the connection can't be closed in an orderly way.
    pub async fn release(self) -> Result<(), StorageError> {
        Ok(self.connection.close().await?)
    }
}
