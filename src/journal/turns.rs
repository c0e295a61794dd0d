//! The turns of runs. While several users have active runs, they bound what the runs of one user add to a commit, so that the
//! commits that another user waits for stay short, and the runs of one user do not occupy the processor.
//!
//! A run takes a turn before it submits output, and may add several changes in it. It waits for its turn without reading
//! from its model. A turn ends when its changes are taken for a commit. The runs of a user take turns in order.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use crate::{
    protocol::{MessageId, UserId},
    storage::RunKey,
};

/// The share of a user in a commit.
#[derive(Debug)]
pub(super) struct Share {
    /// The number of turns, a divisor of [`PERMITS`].
    pub turns: usize,
    /// The number of changes in a turn.
    pub changes: usize,
}

/// The share of the only user with active runs.
const SHARE_ALONE: Share = Share {
    turns: PERMITS,
    changes: 256,
};

/// The share of each user if there are several.
pub(super) const SHARE_BESIDE_OTHERS: Share = Share { turns: 8, changes: 8 };

/// The permits of a user. A turn takes the more of them, the fewer turns there are in a commit.
const PERMITS: usize = 256;

/// The time for which a user counts as active after the last output of a run.
pub(super) const ACTIVE_FOR: Duration = Duration::from_secs(1);

/// A run's turn.
pub(super) type Turn = OwnedSemaphorePermit;

/// The turns of all users with active runs.
#[derive(Debug, Default)]
pub(super) struct Turns {
    users: Mutex<HashMap<UserId, UserTurns>>,
}

#[derive(Debug)]
struct UserTurns {
    permits: Arc<Semaphore>,
    /// The changes that each run may still add in its turn.
    remaining: HashMap<MessageId, usize>,
    last_output: Instant,
}

impl Turns {
    /// Waits until a run may submit a change. Returns its turn if it begins with this change.
    pub async fn take(&self, run: RunKey) -> Option<Turn> {
        let (permits, share) = {
            let mut users = self.users.lock();
            let now = Instant::now();
            let is_alone = !users
                .iter()
                .any(|(user_id, user)| *user_id != run.user_id && now - user.last_output < ACTIVE_FOR);
            let user = users.entry(run.user_id).or_insert_with(|| UserTurns {
                permits: Arc::new(Semaphore::new(PERMITS)),
                remaining: HashMap::new(),
                last_output: now,
            });
            user.last_output = now;
            if let Some(remaining) = user.remaining.get_mut(&run.message_id)
                && *remaining > 0
            {
                *remaining -= 1;
                return None;
            }
            let share = if is_alone {
                SHARE_ALONE
            } else {
                SHARE_BESIDE_OTHERS
            };
            (user.permits.clone(), share)
        };
        let weight = (PERMITS / share.turns) as u32;
        // Never closed.
        let turn = permits.acquire_many_owned(weight).await.ok()?;
        let mut users = self.users.lock();
        if let Some(user) = users.get_mut(&run.user_id) {
            user.remaining.insert(run.message_id, share.changes - 1);
        }
        Some(turn)
    }

    /// Ends all turns: their changes are taken for a commit.
    pub fn end(&self) {
        let now = Instant::now();
        self.users.lock().retain(|_, user| {
            user.remaining.clear();
            now - user.last_output < ACTIVE_FOR || Arc::strong_count(&user.permits) > 1
        });
    }
}
