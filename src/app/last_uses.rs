//! The last recorded uses of tokens and sessions: the database gets one write per interval, not one per request.

use std::{collections::HashMap, hash::Hash};

use parking_lot::Mutex;

use parlor_protocol::Timestamp;

/// The longest interval between two records, in milliseconds.
pub const MAX_INTERVAL_MS: i64 = 60_000;

/// The times when this process last recorded each use.
pub struct LastUses<K>(Mutex<HashMap<K, Timestamp>>);

impl<K> Default for LastUses<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> LastUses<K> {
    /// Returns true if a use must be recorded now, because the last one, here or in the database, is at least an interval ago.
    pub fn begin_record(&self, key: K, stored: Option<Timestamp>, interval_ms: i64, now: Timestamp) -> bool {
        let mut uses = self.0.lock();
        let last = uses.get(&key).copied().max(stored);
        if last.is_some_and(|last| now.0 - last.0 < interval_ms) {
            return false;
        }
        // Older ones have no effect any more.
        uses.retain(|_, used| now.0 - used.0 < MAX_INTERVAL_MS);
        uses.insert(key, now);
        true
    }

    /// Forgets the uses of a token or session that has ended.
    pub fn forget(&self, key: K) {
        self.0.lock().remove(&key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_once_per_interval_and_forgets_old_uses() {
        let uses = LastUses::default();
        let record = |key: i64, stored, at| uses.begin_record(key, stored, 10, Timestamp(at));
        assert!(record(1, None, 0));
        assert!(!record(1, None, 9));
        assert!(record(1, None, 10));
        assert!(!record(2, Some(Timestamp(5)), 14), "the database has it");
        for key in 3..1000 {
            assert!(record(key, None, key * MAX_INTERVAL_MS));
            assert_eq!(uses.0.lock().len(), 1);
        }
    }
}
