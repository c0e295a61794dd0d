//! The limit of attempts to sign in: after some failed ones, each further one has to wait longer.
//!
//! Attempts count per account, also for names without one, and per address; new accounts count apart. Nothing counts while an
//! attempt has to wait, so no single wait exceeds the longest. Still, somebody who fails again whenever a wait ends can keep
//! a user from signing in (not from a session).

use std::{
    collections::HashMap,
    net::IpAddr,
    time::{Duration, Instant},
};

/// The maximum number of accounts and addresses that are remembered.
const MAX_ENTRIES: usize = 10_000;

/// The subject of attempts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AttemptKey {
    Account(String),
    Address(IpAddr),
    /// The address of open sign-ups, which count whether they succeed or not.
    SignUps(IpAddr),
}

/// The attempts of all accounts and addresses.
#[derive(Debug)]
pub struct Attempts {
    /// The number of attempts without a wait.
    free: u32,
    longest_wait: Duration,
    entries: HashMap<AttemptKey, FailureRecord>,
}

#[derive(Clone, Copy, Debug)]
struct FailureRecord {
    failures: u32,
    /// The next attempt is possible from then on.
    next_at: Instant,
}

impl Attempts {
    pub fn new(free: usize, longest_wait: Duration) -> Self {
        Self {
            free: u32::try_from(free).unwrap_or(u32::MAX),
            longest_wait,
            entries: HashMap::new(),
        }
    }

    /// Counts an attempt and returns its time. It has failed unless [`forget`](Self::forget) or [`refund`](Self::refund) is
    /// called. Counted before its password is checked, so that attempts at the same time count too.
    ///
    /// # Errors
    ///
    /// If it has to wait; with the time.
    pub fn begin(&mut self, keys: &[AttemptKey]) -> Result<Instant, Duration> {
        // Read here, under the caller's lock: an attempt that read the time before another one began, and began after it,
        // would have to wait for it.
        let now = Instant::now();
        self.begin_at(keys, now).map(|()| now)
    }

    fn begin_at(&mut self, keys: &[AttemptKey], now: Instant) -> Result<(), Duration> {
        let wait = keys.iter().filter_map(|key| self.entries.get(key));
        let wait = wait
            .map(|entry| entry.next_at.saturating_duration_since(now))
            .max();
        if let Some(wait) = wait.filter(|wait| !wait.is_zero()) {
            return Err(wait);
        }
        self.make_room(keys.len(), now);
        for key in keys {
            let known = self
                .entries
                .get(key)
                .filter(|entry| now < entry.next_at + self.longest_wait);
            let failures = known.map_or(0, |entry| entry.failures).saturating_add(1);
            let next_at = now + self.wait_after(failures);
            self.entries
                .insert(key.clone(), FailureRecord { failures, next_at });
        }
        Ok(())
    }

    /// Forgets the attempts of an account, because the last one succeeded.
    pub fn forget(&mut self, key: &AttemptKey) {
        self.entries.remove(key);
    }

    /// Takes back a successful attempt that began at `begun`. Earlier failures remain: an address with an account could
    /// otherwise guess passwords of others without waits.
    pub fn refund(&mut self, key: &AttemptKey, begun: Instant) {
        let Some(entry) = self.entries.get(key).copied() else {
            return;
        };
        let failures = entry.failures.saturating_sub(1);
        if failures == 0 {
            self.entries.remove(key);
            return;
        }
        // Another attempt may have failed meanwhile. Its wait remains.
        let is_last = entry.next_at == begun + self.wait_after(entry.failures);
        let next_at = if is_last { begun } else { entry.next_at };
        self.entries
            .insert(key.clone(), FailureRecord { failures, next_at });
    }

    fn wait_after(&self, failures: u32) -> Duration {
        match failures.checked_sub(self.free) {
            None => Duration::ZERO,
            Some(doublings) => {
                let seconds = 1_u64.checked_shl(doublings).unwrap_or(u64::MAX);
                Duration::from_secs(seconds).min(self.longest_wait)
            }
        }
    }

    fn make_room(&mut self, count: usize, now: Instant) {
        if self.entries.len() + count <= MAX_ENTRIES {
            return;
        }
        let longest_wait = self.longest_wait;
        self.entries.retain(|_, entry| now < entry.next_at + longest_wait);
        while self.entries.len() + count > MAX_ENTRIES {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.next_at);
            let Some(key) = oldest.map(|(key, _)| key.clone()) else {
                break;
            };
            self.entries.remove(&key);
        }
    }
}

/// Returns the address that attempts and requests count for. Providers give each customer a whole IPv6 network.
pub fn counted_address(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(name: &str) -> AttemptKey {
        AttemptKey::Account(name.into())
    }

    #[test]
    fn waits_grow_up_to_the_longest() {
        let mut attempts = Attempts::new(3, Duration::from_secs(5));
        let mut now = Instant::now();
        let key = [account("ann")];
        let mut waits = Vec::new();
        for _ in 0..7 {
            if let Err(wait) = attempts.begin_at(&key, now) {
                waits.push(wait.as_secs());
                now += wait;
                attempts.begin_at(&key, now).unwrap();
            }
        }
        assert_eq!(waits, [1, 2, 4, 5]);
        assert!(
            attempts.begin_at(&[account("ben")], now).is_ok(),
            "others need not wait"
        );
    }

    #[test]
    fn waiting_attempts_do_not_count() {
        let mut attempts = Attempts::new(1, Duration::from_secs(60));
        let now = Instant::now();
        let key = [account("ann")];
        attempts.begin_at(&key, now).unwrap();
        for _ in 0..100 {
            assert_eq!(attempts.begin_at(&key, now), Err(Duration::from_secs(1)));
        }
    }

    #[test]
    fn success_and_time_forget_failures() {
        let mut attempts = Attempts::new(1, Duration::from_secs(60));
        let now = Instant::now();
        let key = [account("ann")];
        attempts.begin_at(&key, now).unwrap();
        attempts.forget(&key[0]);
        assert!(attempts.begin_at(&key, now).is_ok());
        let later = now + Duration::from_secs(120);
        attempts.begin_at(&key, later).unwrap();
        assert_eq!(
            attempts.begin_at(&key, later),
            Err(Duration::from_secs(1)),
            "counted anew"
        );
    }

    #[test]
    fn a_success_takes_back_only_itself() {
        let mut attempts = Attempts::new(3, Duration::from_secs(60));
        let now = Instant::now();
        let address = AttemptKey::Address([192, 0, 2, 1].into());
        let keys = [address.clone()];
        for _ in 0..5 {
            attempts.begin_at(&keys, now).unwrap();
            attempts.refund(&address, now);
        }
        attempts.begin_at(&keys, now).unwrap();
        attempts.begin_at(&keys, now).unwrap();
        attempts.begin_at(&keys, now).unwrap();
        assert_eq!(attempts.begin_at(&keys, now), Err(Duration::from_secs(1)));
        let later = now + Duration::from_secs(1);
        attempts.begin_at(&keys, later).unwrap();
        attempts.refund(&address, later);
        attempts.begin_at(&keys, later).unwrap();
        assert_eq!(
            attempts.begin_at(&keys, later),
            Err(Duration::from_secs(2)),
            "failures remain"
        );
        attempts.refund(&address, now);
        assert_eq!(
            attempts.begin_at(&keys, later),
            Err(Duration::from_secs(2)),
            "the wait of a later failure remains"
        );
    }

    #[test]
    fn memory_is_bounded() {
        let mut attempts = Attempts::new(1, Duration::from_secs(60));
        let now = Instant::now();
        for number in 0..MAX_ENTRIES / 2 + 25 {
            let names = [number.to_string(), format!("{number} again")];
            attempts.begin_at(&names.map(|name| account(&name)), now).unwrap();
        }
        assert!(attempts.entries.len() <= MAX_ENTRIES);
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address() {
        let counted = |text: &str| counted_address(text.parse().unwrap()).to_string();
        assert_eq!(counted("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(counted("::ffff:192.0.2.1"), "192.0.2.1");
        assert_eq!(counted("192.0.2.1"), "192.0.2.1");
    }
}
