//! The limit of attempts to sign in: after some failed ones, each further one has to wait longer.
//!
//! Attempts count per account, also for names without one, and per address; new accounts count apart. Nothing counts while an
//! attempt has to wait, so no single wait exceeds the longest. Still, somebody who fails again whenever a wait ends can keep
//! a user from signing in (not from a session).

use std::{
    collections::HashMap,
    fmt,
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use super::AttemptError;
use parlor_storage::{
    Storage, StorageError,
    limits::{LimitEntry, LimitKey},
};

/// The maximum number of accounts and addresses that are remembered in memory.
const MAX_ENTRIES: usize = 10_000;

/// The subject of attempts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AttemptKey {
    Account(String),
    Address(IpAddr),
    /// The address of open sign-ups, which count whether they succeed or not.
    SignUps(IpAddr),
}

impl AttemptKey {
    fn shared(&self) -> LimitKey {
        match self {
            Self::Account(name) => LimitKey::new("attempts of account", name),
            Self::Address(address) => LimitKey::new("attempts of address", address),
            Self::SignUps(address) => LimitKey::new("sign-ups of address", address),
        }
    }
}

/// The time of an attempt, in microseconds of the entries' clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptTime(u64);

/// The attempts of all accounts and addresses.
pub struct Attempts {
    rules: WaitRules,
    entries: Entries,
}

/// The memory of attempts.
enum Entries {
    /// Of this process.
    Local(Mutex<LocalEntries>),
    /// Of the database, which several nodes have in common.
    Shared(Arc<dyn Storage>),
}

impl fmt::Debug for Attempts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempts").field("rules", &self.rules).finish()
    }
}

impl Attempts {
    pub fn new(free: usize, longest_wait: Duration, storage: &Arc<dyn Storage>) -> Self {
        let rules = WaitRules {
            free: u32::try_from(free).unwrap_or(u32::MAX),
            longest_wait,
        };
        let entries = match storage.has_nodes() {
            true => Entries::Shared(storage.clone()),
            false => Entries::Local(Mutex::new(LocalEntries::new())),
        };
        Self { rules, entries }
    }

    /// Counts an attempt and returns its time. It has failed unless [`succeed`](Self::succeed) is called. Counted before its
    /// password is checked, so that attempts at the same time count too.
    ///
    /// # Errors
    ///
    /// If it has to wait, or nothing could be counted.
    pub async fn begin(&self, keys: &[AttemptKey]) -> Result<AttemptTime, AttemptError> {
        let rules = self.rules;
        let begun = self.change(keys, move |entries, now| {
            rules.begin(entries, now).map(|()| AttemptTime(now))
        });
        begun.await?.map_err(AttemptError::Wait)
    }

    /// Notes that the attempt of this time succeeded: those of an account are forgotten, and of an address this one is taken back. Its
    /// earlier failures remain: an address with an account could otherwise guess passwords of others without waits.
    pub async fn succeed(&self, keys: &[AttemptKey], begun: AttemptTime) {
        let rules = self.rules;
        let succeed = |entries: &mut [Option<LimitEntry>], _| {
            for (entry, key) in entries.iter_mut().zip(keys) {
                match key {
                    AttemptKey::Account(_) => *entry = None,
                    AttemptKey::Address(_) | AttemptKey::SignUps(_) => rules.refund(entry, begun),
                }
            }
        };
        // Who is signed in stays so: the next attempt waits, at the worst.
        if let Err(error) = self.change(keys, succeed).await {
            tracing::warn!(%error, "a successful attempt to sign in stays counted as a failed one");
        }
    }

    /// Changes the entries of these keys in one step.
    async fn change<T: Send>(
        &self,
        keys: &[AttemptKey],
        change: impl FnOnce(&mut [Option<LimitEntry>], u64) -> T + Send,
    ) -> Result<T, StorageError> {
        match &self.entries {
            Entries::Local(entries) => Ok(entries.lock().change(keys, self.rules.longest_wait, change)),
            Entries::Shared(storage) => {
                let keys: Vec<LimitKey> = keys.iter().map(AttemptKey::shared).collect();
                let mut result = None;
                let store = Box::new(|entries: &mut [Option<LimitEntry>], now| {
                    result = Some(change(entries, now));
                });
                storage.change_limits(&keys, store).await?;
                result.ok_or(StorageError::LeaseLost)
            }
        }
    }
}

/// The waits of attempts.
#[derive(Clone, Copy, Debug)]
struct WaitRules {
    /// The number of attempts without a wait.
    free: u32,
    longest_wait: Duration,
}

impl WaitRules {
    fn begin(self, entries: &mut [Option<LimitEntry>], now: u64) -> Result<(), Duration> {
        let longest = micros(self.longest_wait);
        let waits = entries
            .iter()
            .flatten()
            .map(|entry| entry.next_at.saturating_sub(now));
        // A longer wait was given by a clock that was put back since.
        let wait = waits.filter(|wait| *wait <= longest).max().unwrap_or_default();
        if wait > 0 {
            return Err(Duration::from_micros(wait));
        }
        for entry in entries {
            let known = entry.filter(|entry| now < entry.next_at.saturating_add(longest));
            let count = known.map_or(0, |entry| entry.count).saturating_add(1);
            let next_at = now.saturating_add(self.wait_after(count));
            *entry = Some(LimitEntry { count, next_at });
        }
        Ok(())
    }

    fn refund(self, entry: &mut Option<LimitEntry>, AttemptTime(begun): AttemptTime) {
        let Some(LimitEntry { count, next_at }) = *entry else {
            return;
        };
        let failures = count.saturating_sub(1);
        // Another attempt may have failed meanwhile. Its wait remains.
        let is_last = next_at == begun.saturating_add(self.wait_after(count));
        *entry = (failures > 0).then_some(LimitEntry {
            count: failures,
            next_at: if is_last { begun } else { next_at },
        });
    }

    /// Returns the wait after some failures, in microseconds.
    fn wait_after(self, failures: u32) -> u64 {
        let wait = match failures.checked_sub(self.free) {
            None => Duration::ZERO,
            Some(doublings) => {
                let seconds = 1_u64.checked_shl(doublings).unwrap_or(u64::MAX);
                Duration::from_secs(seconds).min(self.longest_wait)
            }
        };
        micros(wait)
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// The entries of a process, with a clock of their own.
struct LocalEntries {
    origin: Instant,
    entries: HashMap<AttemptKey, LimitEntry>,
}

impl LocalEntries {
    fn new() -> Self {
        Self {
            origin: Instant::now(),
            entries: HashMap::new(),
        }
    }

    fn change<T>(
        &mut self,
        keys: &[AttemptKey],
        kept: Duration,
        change: impl FnOnce(&mut [Option<LimitEntry>], u64) -> T,
    ) -> T {
        // Read here, under the lock: an attempt that read the time before another one began, and began after it, would have to
        // wait for it.
        let now = micros(self.origin.elapsed());
        let mut entries: Vec<_> = keys.iter().map(|key| self.entries.get(key).copied()).collect();
        let result = change(&mut entries, now);
        self.make_room(keys.len(), now, micros(kept));
        for (key, entry) in keys.iter().zip(entries) {
            match entry {
                Some(entry) => self.entries.insert(key.clone(), entry),
                None => self.entries.remove(key),
            };
        }
        result
    }

    fn make_room(&mut self, count: usize, now: u64, kept: u64) {
        if self.entries.len() + count <= MAX_ENTRIES {
            return;
        }
        self.entries
            .retain(|_, entry| now < entry.next_at.saturating_add(kept));
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

    const SECOND: u64 = 1_000_000;

    fn rules(free: u32, longest_wait: u64) -> WaitRules {
        WaitRules {
            free,
            longest_wait: Duration::from_secs(longest_wait),
        }
    }

    #[test]
    fn waits_grow_up_to_the_longest() {
        let rules = rules(3, 5);
        let (mut entries, mut now) = ([None], 0);
        let mut waits = Vec::new();
        for _ in 0..7 {
            if let Err(wait) = rules.begin(&mut entries, now) {
                waits.push(wait.as_secs());
                now += micros(wait);
                rules.begin(&mut entries, now).unwrap();
            }
        }
        assert_eq!(waits, [1, 2, 4, 5]);
    }

    #[test]
    fn waiting_attempts_do_not_count() {
        let rules = rules(1, 60);
        let mut entries = [None, None];
        rules.begin(&mut entries[..1], 9).unwrap();
        for _ in 0..100 {
            assert_eq!(rules.begin(&mut entries, 9), Err(Duration::from_secs(1)));
        }
        assert_eq!(entries[1], None, "of neither");
    }

    #[test]
    fn waits_of_another_clock_do_not_count() {
        let rules = rules(1, 60);
        let mut entries = [None];
        let hour = 3600 * SECOND;
        rules.begin(&mut entries, hour).unwrap();
        rules.begin(&mut entries, 0).expect("the clock was put back");
        assert!(rules.begin(&mut entries, 0).is_err());
    }

    #[test]
    fn time_forgets_failures() {
        let rules = rules(1, 60);
        let mut entries = [None];
        rules.begin(&mut entries, 0).unwrap();
        let later = 120 * SECOND;
        rules.begin(&mut entries, later).unwrap();
        assert_eq!(
            rules.begin(&mut entries, later),
            Err(Duration::from_secs(1)),
            "counted anew"
        );
    }

    #[test]
    fn a_success_takes_back_only_itself() {
        let rules = rules(3, 60);
        let mut entries = [None];
        for _ in 0..5 {
            rules.begin(&mut entries, 0).unwrap();
            rules.refund(&mut entries[0], AttemptTime(0));
        }
        for _ in 0..3 {
            rules.begin(&mut entries, 0).unwrap();
        }
        assert_eq!(rules.begin(&mut entries, 0), Err(Duration::from_secs(1)));
        let later = SECOND;
        rules.begin(&mut entries, later).unwrap();
        rules.refund(&mut entries[0], AttemptTime(later));
        rules.begin(&mut entries, later).unwrap();
        assert_eq!(
            rules.begin(&mut entries, later),
            Err(Duration::from_secs(2)),
            "failures remain"
        );
        rules.refund(&mut entries[0], AttemptTime(0));
        assert_eq!(
            rules.begin(&mut entries, later),
            Err(Duration::from_secs(2)),
            "the wait of a later failure remains"
        );
    }

    #[test]
    fn memory_is_bounded() {
        let rules = rules(1, 60);
        let mut local = LocalEntries::new();
        let mut begin = |keys: &[AttemptKey]| {
            local.change(keys, rules.longest_wait, |entries, now| rules.begin(entries, now))
        };
        let account = |name: String| AttemptKey::Account(name);
        for number in 0..MAX_ENTRIES / 2 + 25 {
            begin(&[account(number.to_string()), account(format!("{number} again"))]).unwrap();
        }
        assert!(
            begin(&[account((MAX_ENTRIES / 2 + 24).to_string())]).is_err(),
            "known"
        );
        assert!(local.entries.len() <= MAX_ENTRIES);
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address() {
        let counted = |text: &str| counted_address(text.parse().unwrap()).to_string();
        assert_eq!(counted("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(counted("::ffff:192.0.2.1"), "192.0.2.1");
        assert_eq!(counted("192.0.2.1"), "192.0.2.1");
    }
}
