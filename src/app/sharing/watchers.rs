//! The number of open streams of each share.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

use parlor_protocol::ShareId;

/// The open streams of all shares.
#[derive(Debug, Default)]
pub struct Watchers(Mutex<HashMap<ShareId, usize>>);

/// A place among those who watch a share, until it is dropped.
pub struct WatcherPlace {
    watchers: Arc<Watchers>,
    share_id: ShareId,
}

impl Watchers {
    /// Takes a place, if fewer than `limit` are taken.
    pub fn enter(self: &Arc<Self>, share_id: ShareId, limit: usize) -> Option<WatcherPlace> {
        let mut counts = self.0.lock();
        let count = counts.get(&share_id).copied().unwrap_or_default();
        if count >= limit {
            return None;
        }
        counts.insert(share_id, count + 1);
        Some(WatcherPlace {
            watchers: self.clone(),
            share_id,
        })
    }

    /// Returns the number of all places that are taken.
    pub fn count(&self) -> usize {
        self.0.lock().values().sum()
    }
}

impl Drop for WatcherPlace {
    fn drop(&mut self) {
        let mut counts = self.watchers.0.lock();
        if let Some(count) = counts.get_mut(&self.share_id) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.share_id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_after_its_stream() {
        let watchers = Arc::new(Watchers::default());
        let (share, other) = (ShareId::new(), ShareId::new());
        let first = watchers.enter(share, 1);
        assert!(first.is_some() && watchers.enter(share, 1).is_none());
        assert!(watchers.enter(other, 1).is_some());
        drop(first);
        assert!(watchers.enter(share, 1).is_some());
        assert!(watchers.0.lock().is_empty());
    }
}
