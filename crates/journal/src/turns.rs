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

use parlor_protocol::{MessageId, UserId};
use parlor_storage::RunKey;

/// The number of turns of a user in one commit.
pub(super) const MAX_TURNS: usize = 8;

/// The number of changes in a turn.
pub(super) const CHANGES_PER_TURN: usize = 8;

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
    /// Waits until a run may submit a change. Returns its turn if one begins with this change; none begins while no other user is
    /// active.
    pub async fn take(&self, run: RunKey) -> Option<Turn> {
        let permits = {
            let mut users = self.users.lock();
            let now = Instant::now();
            let is_alone = !users
                .iter()
                .any(|(user_id, user)| *user_id != run.user_id && now - user.last_output < ACTIVE_FOR);
            let user = users.entry(run.user_id).or_insert_with(|| UserTurns {
                permits: Arc::new(Semaphore::new(MAX_TURNS)),
                remaining: HashMap::new(),
                last_output: now,
            });
            user.last_output = now;
            if is_alone {
                return None;
            }
            if let Some(remaining) = user.remaining.get_mut(&run.message_id)
                && *remaining > 0
            {
                *remaining -= 1;
                return None;
            }
            user.permits.clone()
        };
        // Never closed.
        let turn = permits.acquire_owned().await.ok()?;
        if let Some(user) = self.users.lock().get_mut(&run.user_id) {
            user.remaining.insert(run.message_id, CHANGES_PER_TURN - 1);
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
