//! The limit of requests per minute, per user and per address.

use std::{net::IpAddr, num::NonZeroU32, time::Duration};

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter, clock::Clock};

use super::attempts::counted_address;
use parlor_protocol::UserId;

/// The number of remembered users and addresses from which idle ones are forgotten.
const MAX_IDLE_ENTRIES: usize = 10_000;

/// The subject of the limit: an address only for requests without a user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RequestKey {
    User(UserId),
    Address(IpAddr),
}

/// Limits requests.
pub struct RequestLimiter(DefaultKeyedRateLimiter<RequestKey>);

impl RequestLimiter {
    pub fn new(per_minute: usize) -> Self {
        let per_minute = u32::try_from(per_minute).ok().and_then(NonZeroU32::new);
        Self(RateLimiter::keyed(Quota::per_minute(
            per_minute.unwrap_or(NonZeroU32::MAX),
        )))
    }

    /// Counts a request.
    ///
    /// # Errors
    ///
    /// If it exceeds the limit; with the time after which it does not.
    pub fn count(&self, key: RequestKey) -> Result<(), Duration> {
        let key = match key {
            RequestKey::Address(address) => RequestKey::Address(counted_address(address)),
            key => key,
        };
        if self.0.len() > MAX_IDLE_ENTRIES {
            self.0.retain_recent();
        }
        let checked = self.0.check_key(&key);
        checked.map_err(|exceeded| exceeded.wait_time_from(self.0.clock().now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_have_separate_request_limits() {
        let limiter = RequestLimiter::new(3);
        let (ann, ben) = (UserId::new(), UserId::new());
        for _ in 0..3 {
            assert!(limiter.count(RequestKey::User(ann)).is_ok());
        }
        let wait = limiter.count(RequestKey::User(ann)).unwrap_err();
        assert!(!wait.is_zero() && wait <= Duration::from_secs(20), "{wait:?}");
        assert!(limiter.count(RequestKey::User(ben)).is_ok());
    }
}
