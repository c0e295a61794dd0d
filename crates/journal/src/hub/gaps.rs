//! Gaps: events of other nodes, between those of this one, that the hub has not sent.
//!
//! The log is read once for all its subscribers, in order; what this node commits meanwhile is read with it. If each subscriber
//! read by itself, a user with answers at several nodes would cost a query for each follower and commit.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt, stream};
use tokio::time::{sleep, timeout};

use super::{Hub, MAX_RUN_BACKLOG, Topics};
use parlor_protocol::{Position, UserId};
use parlor_storage::{LogPage, Storage};

/// The logs that are read at the same time.
const READS_AT_ONCE: usize = 2;

/// The time after which a read that failed is tried again.
const RETRY_DELAY: Duration = Duration::from_millis(200);

/// The longest read: behind a broken cable, it would end after minutes.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

impl Hub {
    /// Notes that a log has events up to this position.
    pub(super) fn note_gap(&self, topics: &mut Topics, user_id: UserId, position: Position) {
        if !topics.is_known(user_id) {
            // Its first subscribers read the log themselves.
            return topics.tell_to_read(user_id, position);
        }
        let end = topics.gaps.entry(user_id).or_insert(position);
        *end = position.max(*end);
        self.gap.notify_one();
    }

    /// Reads what other nodes have written, and sends it to the subscribers. Never ends; without it, they wait.
    pub async fn fill_gaps(&self, storage: &dyn Storage) {
        loop {
            let gaps = self.gaps();
            if gaps.is_empty() {
                self.gap.notified().await;
                continue;
            }
            stream::iter(gaps)
                .for_each_concurrent(READS_AT_ONCE, |(user_id, known)| {
                    self.fill_gap(storage, user_id, known)
                })
                .await;
        }
    }

    /// Returns the logs that have more than their subscribers know of, with the position of that.
    fn gaps(&self) -> Vec<(UserId, Position)> {
        let topics = self.topics.lock();
        let gaps = topics.gaps.keys();
        gaps.map(|user_id| (*user_id, topics.known_of(*user_id)))
            .collect()
    }

    async fn fill_gap(&self, storage: &dyn Storage, user_id: UserId, after: Position) {
        // No more than a subscriber may fall behind.
        let reading = storage.events_after(user_id, after, None, MAX_RUN_BACKLOG / 2);
        let page = match timeout(READ_TIMEOUT, reading).await {
            Ok(Ok(page)) => page,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the events of other nodes can't be read; trying again");
                return sleep(RETRY_DELAY).await;
            }
            Err(_) => return tracing::warn!("the events of other nodes can't be read in time; trying again"),
        };
        let mut topics = self.topics.lock();
        if let LogPage::Events { events, .. } = page {
            for event in events {
                if topics.is_next(user_id, event.event.position) {
                    topics.send(&Arc::new(event));
                }
            }
        }
        let known = topics.known_of(user_id);
        match topics.gaps.get(&user_id) {
            Some(end) if *end <= known => {
                topics.gaps.remove(&user_id);
            }
            // The log has been trimmed, or lacks an event: each subscriber finds out by itself.
            Some(end) if known <= after => {
                let end = *end;
                topics.tell_to_read(user_id, end);
            }
            _ => {}
        }
    }
}

impl Topics {
    fn known_of(&self, user_id: UserId) -> Position {
        let known = self.known.as_ref().and_then(|known| known.get(&user_id));
        known.copied().unwrap_or_default()
    }
}
