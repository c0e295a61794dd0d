//! Limits that several nodes share: what each subject has used, in the table `limits`. A single process has them in memory.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use uuid::Uuid;

use super::StorageError;

/// The subject of a limit, as a number that says nothing about it: it may be the name of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LimitKey(Uuid);

impl LimitKey {
    /// The namespace of these ids (RFC 9562, section 5.5), made for this.
    const NAMESPACE: Uuid = Uuid::from_u128(0x4e0e_43a4_90a4_4c0e_8a0d_6d8a_0b7c_51f2);

    /// Returns the key of a subject of one kind of limit.
    pub fn new(kind: &str, subject: impl fmt::Display) -> Self {
        Self(Uuid::new_v5(
            &Self::NAMESPACE,
            format!("{kind} {subject}").as_bytes(),
        ))
    }

    /// Returns the number of the lock under which the entry is changed.
    pub(crate) fn lock(self) -> i64 {
        let (high, low) = self.0.as_u64_pair();
        (high ^ low).cast_signed()
    }
}

impl fmt::Display for LimitKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The uses of a limit's subject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitEntry {
    pub count: u32,
    /// The next use is possible from then on, in microseconds of the clock that belongs to the entries.
    pub next_at: u64,
}

/// A change of the entries of some keys, in the keys' order, at this time in microseconds. `None` is no entry.
pub type LimitChange<'a> = Box<dyn FnOnce(&mut [Option<LimitEntry>], u64) + Send + 'a>;

/// The operations on limits. A process that has no other nodes beside it does not call them.
#[async_trait]
pub trait LimitStorage {
    /// Takes the next turn of those that are given at this interval, if it is at most `ahead` from now. If it is later, takes none, and
    /// returns the time after which it is not.
    async fn take_turn(
        &self,
        key: LimitKey,
        interval: Duration,
        ahead: Duration,
    ) -> Result<Option<Duration>, StorageError>;

    /// Gives no turns for this duration.
    async fn pause_turns(&self, key: LimitKey, pause: Duration) -> Result<(), StorageError>;

    /// Changes entries of limits in one step.
    async fn change_limits(&self, keys: &[LimitKey], change: LimitChange<'_>) -> Result<(), StorageError>;
}
