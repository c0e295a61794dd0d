//! The output of runs that waits for its commit: a queue for each user.
//!
//! A commit takes a limited number of changes, divided among the users whose runs are active. Otherwise one user's runs
//! would make each commit as long as their output, and each step of the others' runs would wait for it.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{sync::Semaphore, time::Instant};

use super::{QueuedChange, merge::merge_appends};
use crate::protocol::UserId;

/// The maximum number of changes in a user's queue. Merged ones count as many.
const MAX_USER_CHANGES: usize = 1024;

/// The number of merged output changes in a commit, divided among the active users.
const SHARED_COMMIT_CHANGES: usize = 32;

/// The share of each user in a commit, however many users there are.
const MIN_USER_CHANGES: usize = 4;

/// The time for which a user stays active after a change.
const ACTIVE_TIME: Duration = Duration::from_secs(1);

/// The queues of all users.
#[derive(Debug)]
pub(super) struct OutputQueue {
    /// `None` once the writer has ended.
    users: Mutex<Option<BTreeMap<UserId, UserQueue>>>,
}

#[derive(Debug)]
struct UserQueue {
    changes: VecDeque<QueuedChange>,
    /// The time of the last added change.
    last_push: Instant,
    /// A permit for each change that may be added. The senders that wait for one hold a clone.
    free_slots: Arc<Semaphore>,
}

impl Default for UserQueue {
    fn default() -> Self {
        Self {
            changes: VecDeque::new(),
            last_push: Instant::now(),
            free_slots: Arc::new(Semaphore::new(MAX_USER_CHANGES)),
        }
    }
}

impl Default for OutputQueue {
    fn default() -> Self {
        Self {
            users: Mutex::new(Some(BTreeMap::new())),
        }
    }
}

impl OutputQueue {
    /// Adds a change. Waits while the user's queue is full. Drops the change if the writer has ended.
    pub async fn push(&self, user_id: UserId, change: QueuedChange) {
        let Some(free_slots) = self.with_queue(user_id, |queue| queue.free_slots.clone()) else {
            return;
        };
        if let Ok(slot) = free_slots.acquire().await {
            slot.forget();
            self.with_queue(user_id, |queue| {
                queue.changes.push_back(change);
                queue.last_push = Instant::now();
            });
        }
    }

    /// Drops all changes, and those added later.
    pub fn close(&self) {
        let queues = self.users.lock().take().unwrap_or_default();
        queues.values().for_each(|queue| queue.free_slots.close());
    }

    pub fn is_empty(&self) -> bool {
        let users = self.users.lock();
        users
            .iter()
            .flat_map(BTreeMap::values)
            .all(|queue| queue.changes.is_empty())
    }

    fn with_queue<T>(&self, user_id: UserId, access: impl FnOnce(&mut UserQueue) -> T) -> Option<T> {
        let mut users = self.users.lock();
        Some(access(users.as_mut()?.entry(user_id).or_default()))
    }

    /// Takes the changes of the next commit: each user's oldest ones, merged.
    pub fn take_next(&self) -> Vec<QueuedChange> {
        let (waiting, active_users) = self.take_all();
        let share = (SHARED_COMMIT_CHANGES / active_users.max(1)).max(MIN_USER_CHANGES);
        let mut next = Vec::new();
        for (user_id, changes) in waiting {
            let mut taken = merge_appends(changes.into_iter());
            let rest = taken.split_off(share.min(taken.len()));
            self.put_back(user_id, rest, taken.iter().map(|change| change.slots).sum());
            next.extend(taken);
        }
        next
    }

    /// Takes all changes, and removes the queues that nobody uses. Returns the number of the active users, too. Merging
    /// does not keep the senders waiting.
    fn take_all(&self) -> (Vec<(UserId, VecDeque<QueuedChange>)>, usize) {
        let mut users = self.users.lock();
        let Some(users) = &mut *users else {
            return (Vec::new(), 0);
        };
        users.retain(|_, queue| {
            let is_active = queue.last_push.elapsed() < ACTIVE_TIME;
            is_active || !queue.changes.is_empty() || Arc::strong_count(&queue.free_slots) > 1
        });
        let waiting = users
            .iter_mut()
            .filter(|(_, queue)| !queue.changes.is_empty())
            .map(|(user_id, queue)| (*user_id, std::mem::take(&mut queue.changes)))
            .collect();
        (waiting, users.len())
    }

    /// Puts changes back before those added meanwhile, and frees the slots of the taken ones.
    fn put_back(&self, user_id: UserId, rest: Vec<QueuedChange>, freed: usize) {
        self.with_queue(user_id, |queue| {
            let added = std::mem::replace(&mut queue.changes, rest.into());
            queue.changes.extend(added);
            queue.free_slots.add_permits(freed);
        });
    }
}

#[cfg(test)]
mod tests;
