//! The verified right of a request to act as a user, and the end of that right.

use std::{future::pending, pin::Pin, sync::Arc, time::Duration};

use tokio::{sync::watch, time::sleep};
use tokio_util::task::AbortOnDropHandle;

use parlor_base::{clock, settings::AuthMode};
use parlor_protocol::{SessionId, Timestamp, UserId};
use parlor_storage::{Storage, StorageError, TokenHash};

/// The right of a request to act as a user. A request of the local user has none.
#[derive(Clone, Debug)]
pub struct Access {
    pub user_id: UserId,
    pub credential: Credential,
}

/// The proof of an access.
#[derive(Clone, Debug)]
pub enum Credential {
    Token {
        hash: TokenHash,
        expires_at: Option<Timestamp>,
    },
    Session {
        id: SessionId,
        hash: TokenHash,
    },
    /// A named proxy has authenticated the user.
    Proxy,
}

/// Resolves when an access has ended; with an error if storage cannot tell.
pub type AccessEnd = Pin<Box<dyn Future<Output = Result<(), StorageError>> + Send>>;

/// Runs the watch of an access in a task of its own, which ends when the returned future is dropped.
///
/// Streams poll this future only while they wait. A read of it that is not polled would keep a connection of storage,
/// or the next place in the queue for one, from the stream itself, which waits for one meanwhile.
pub fn watch_in_task(watch: impl Future<Output = Result<(), StorageError>> + Send + 'static) -> AccessEnd {
    let task = AbortOnDropHandle::new(tokio::spawn(watch));
    // If it panics, the access has ended.
    Box::pin(async move { task.await.unwrap_or(Ok(())) })
}

/// Watches accesses while their requests and streams last.
pub struct AccessMonitor {
    storage: Arc<dyn Storage>,
    mode: AuthMode,
    /// Counts the changes that may have ended an access.
    changes: watch::Sender<u64>,
}

/// The validity of an access.
enum Validity {
    Ended,
    /// Valid until this time, if nothing changes.
    Until(Option<Timestamp>),
}

impl AccessMonitor {
    pub fn new(storage: Arc<dyn Storage>, mode: AuthMode) -> Self {
        Self {
            storage,
            mode,
            changes: watch::Sender::new(0),
        }
    }

    /// Checks all accesses again: a token, a session or an account was revoked.
    pub fn recheck(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Returns a counter that changes whenever an access may have ended.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Returns true if a user may act: without accounts the local user only, else the users with an enabled account.
    pub async fn is_active(&self, user_id: UserId) -> Result<bool, StorageError> {
        if self.mode == AuthMode::None {
            return Ok(user_id == UserId::LOCAL);
        }
        let account = self.storage.account(user_id).await?;
        Ok(account.is_some_and(|account| !account.is_disabled))
    }

    /// Returns a future that resolves when the work of an access must end. Without an access it never resolves.
    pub fn access_end(self: &Arc<Self>, access: Option<Access>) -> AccessEnd {
        let Some(access) = access else {
            return Box::pin(pending());
        };
        let monitor = self.clone();
        let mut changes = self.changes.subscribe();
        watch_in_task(async move {
            // It may have been revoked since it was checked. If storage fails, access ends too.
            while let Validity::Until(end) = monitor.validity(&access).await? {
                tokio::select! {
                    changed = changes.changed() => if changed.is_err() { break },
                    () = wait_until(end) => {}
                }
            }
            Ok(())
        })
    }

    async fn validity(&self, access: &Access) -> Result<Validity, StorageError> {
        let end = match &access.credential {
            Credential::Token { hash, expires_at } => {
                if self.storage.api_token(hash).await?.is_none() {
                    return Ok(Validity::Ended);
                }
                *expires_at
            }
            Credential::Session { hash, .. } => match self.storage.session(hash).await? {
                Some((_, session)) => Some(session.end()),
                None => return Ok(Validity::Ended),
            },
            Credential::Proxy => None,
        };
        let has_expired = end.is_some_and(|end| end <= clock::now());
        if has_expired || !self.is_active(access.user_id).await? {
            return Ok(Validity::Ended);
        }
        Ok(Validity::Until(end))
    }
}

async fn wait_until(at: Option<Timestamp>) {
    match at {
        Some(at) => {
            let left = at.0.saturating_sub(clock::now().0);
            sleep(Duration::from_millis(u64::try_from(left).unwrap_or_default())).await;
        }
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;
    use parlor_storage::sqlite::SqliteStorage;

    const ACCESS: Access = Access {
        user_id: UserId::LOCAL,
        credential: Credential::Token {
            hash: TokenHash([7; 32]),
            expires_at: None,
        },
    };

    async fn open(folder: &tempfile::TempDir) -> (Arc<dyn Storage>, Arc<AccessMonitor>) {
        let storage: Arc<dyn Storage> = Arc::new(SqliteStorage::open(folder.path()).await.unwrap());
        let monitor = Arc::new(AccessMonitor::new(storage.clone(), AuthMode::None));
        (storage, monitor)
    }

    #[tokio::test]
    async fn access_end_reports_storage_errors() {
        let folder = tempfile::tempdir().unwrap();
        let (storage, monitor) = open(&folder).await;
        assert!(monitor.access_end(Some(ACCESS)).await.is_ok(), "there is none");
        storage.close().await.unwrap();
        assert!(monitor.access_end(Some(ACCESS)).await.is_err());
    }

    #[tokio::test]
    async fn without_accounts_only_the_local_user_may_act() {
        let folder = tempfile::tempdir().unwrap();
        let (_storage, monitor) = open(&folder).await;
        assert!(monitor.is_active(UserId::LOCAL).await.unwrap());
        // Tokens and shares of the time with accounts remain stored.
        assert!(!monitor.is_active(UserId::new()).await.unwrap());
    }

    #[tokio::test]
    async fn unpolled_access_ends_hold_no_connections() {
        let folder = tempfile::tempdir().unwrap();
        let (storage, monitor) = open(&folder).await;
        // More than storage has connections.
        let mut ends: Vec<AccessEnd> = (0..20).map(|_| monitor.access_end(Some(ACCESS))).collect();
        for end in &mut ends {
            let _ = end.now_or_never();
        }
        assert!(storage.account(UserId::LOCAL).await.is_ok());
    }
}
