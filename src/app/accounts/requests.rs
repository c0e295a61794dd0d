//! The limit of requests per minute, per user and per address. Several nodes have it in common.

use std::{net::IpAddr, num::NonZeroU32, sync::Arc, time::Duration};

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter, clock::Clock};

use super::attempts::counted_address;
use parlor_protocol::UserId;
use parlor_storage::{Storage, limits::LimitKey};

const MINUTE: Duration = Duration::from_secs(60);

/// The number of remembered users and addresses from which idle ones are forgotten.
const MAX_IDLE_ENTRIES: usize = 10_000;

/// The subject of the limit: an address only for requests without a user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RequestKey {
    User(UserId),
    Address(IpAddr),
}

impl RequestKey {
    /// Returns the subject that counts.
    fn counted(self) -> Self {
        match self {
            Self::Address(address) => Self::Address(counted_address(address)),
            key @ Self::User(_) => key,
        }
    }

    fn shared(&self) -> LimitKey {
        match self {
            Self::User(user_id) => LimitKey::new("requests of user", user_id),
            Self::Address(address) => LimitKey::new("requests of address", address),
        }
    }
}

/// Limits requests.
pub struct RequestLimiter {
    local: DefaultKeyedRateLimiter<RequestKey>,
    /// The time in which one request more becomes possible, and where the nodes' requests are counted.
    shared: Option<(Duration, Arc<dyn Storage>)>,
}

impl RequestLimiter {
    pub fn new(per_minute: usize, storage: &Arc<dyn Storage>) -> Self {
        let per_minute = u32::try_from(per_minute).ok().and_then(NonZeroU32::new);
        let per_minute = per_minute.unwrap_or(NonZeroU32::MAX);
        Self {
            local: RateLimiter::keyed(Quota::per_minute(per_minute)),
            shared: storage
                .has_nodes()
                .then(|| (MINUTE / per_minute.get(), storage.clone())),
        }
    }

    /// Counts a request.
    ///
    /// # Errors
    ///
    /// If it exceeds the limit; with the time after which it does not.
    pub async fn count(&self, key: RequestKey) -> Result<(), Duration> {
        let key = key.counted();
        // A flood at one node is none at the database.
        self.count_local(key.clone())?;
        let Some((interval, storage)) = &self.shared else {
            return Ok(());
        };
        let burst = MINUTE.saturating_sub(*interval);
        match storage.take_turn(key.shared(), *interval, burst).await {
            Ok(None) => Ok(()),
            Ok(Some(wait)) => Err(wait),
            Err(error) => {
                tracing::warn!(%error, "the requests of all nodes can't be counted; those of this one are");
                Ok(())
            }
        }
    }

    /// Counts a request of this process only.
    ///
    /// # Errors
    ///
    /// As [`count`](Self::count).
    pub fn count_local(&self, key: RequestKey) -> Result<(), Duration> {
        if self.local.len() > MAX_IDLE_ENTRIES {
            self.local.retain_recent();
        }
        let checked = self.local.check_key(&key.counted());
        checked.map_err(|exceeded| exceeded.wait_time_from(self.local.clock().now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_storage::sqlite::SqliteStorage;

    #[tokio::test]
    async fn users_have_separate_request_limits() {
        let folder = tempfile::tempdir().unwrap();
        let storage = SqliteStorage::open(folder.path()).await.unwrap();
        let storage: Arc<dyn Storage> = Arc::new(storage);
        let limiter = RequestLimiter::new(3, &storage);
        let (ann, ben) = (UserId::new(), UserId::new());
        for _ in 0..3 {
            assert!(limiter.count(RequestKey::User(ann)).await.is_ok());
        }
        let wait = limiter.count(RequestKey::User(ann)).await.unwrap_err();
        assert!(!wait.is_zero() && wait <= Duration::from_secs(20), "{wait:?}");
        assert!(limiter.count(RequestKey::User(ben)).await.is_ok());
    }
}
