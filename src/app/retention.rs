//! The end of conversations by their age: of temporary ones, and of all by the setting `retention.days` or by the choice of
//! their user.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{AppState, Caller};
use parlor_base::clock;
use parlor_journal::JournalError;
use parlor_protocol::{ApiError, ErrorCode, Timestamp};
use parlor_storage::{
    Change, ConversationChange, ExpiredConversation, Expiry, PersonalChange, StorageError, StorageErrorKind,
};

/// The maximum number of days that a user can choose.
const MAX_DAYS: u32 = 36_500;

/// The maximum delay of the first check, and of that after the clock was set. A clock that is wrong at the start of the
/// machine is usually set by then.
const MAX_FIRST_DELAY: Duration = Duration::from_secs(300);

/// The time by which the clock may be ahead of the time that has passed.
const MAX_DRIFT: Duration = Duration::from_secs(60);

/// Erases conversations that have reached their age, periodically.
pub async fn erase_expired_periodically(app: AppState) {
    let interval = app.settings.retention.interval;
    let mut last = Reading::now();
    let first_delay = interval.min(MAX_FIRST_DELAY);
    let mut delay = first_delay;
    loop {
        sleep(delay).await;
        let before = std::mem::replace(&mut last, Reading::now());
        if last.is_ahead_of(before) {
            tracing::warn!(
                "the clock was set, or the machine slept: conversations are erased by their age with the next check"
            );
            delay = first_delay;
            continue;
        }
        delay = interval;
        match erase_expired(&app, last.clock).await {
            Ok(0) => {}
            Ok(erased) => tracing::info!(erased, "erased conversations that have reached their age"),
            Err(error) => {
                tracing::error!(%error, "conversations that have reached their age could not be erased; trying again later")
            }
        }
    }
}

/// The clock, and the monotonic clock.
#[derive(Clone, Copy)]
struct Reading {
    steady: Instant,
    clock: Timestamp,
}

impl Reading {
    fn now() -> Self {
        Self {
            steady: Instant::now(),
            clock: clock::now(),
        }
    }

    /// Returns true if the clock has moved forward by more than the time since another reading. Then ages may be wrong.
    fn is_ahead_of(self, before: Self) -> bool {
        let moved = self.clock.0.saturating_sub(before.clock.0);
        let passed = self.steady.saturating_duration_since(before.steady) + MAX_DRIFT;
        u128::try_from(moved).is_ok_and(|moved| moved > passed.as_millis())
    }
}

/// The failure of an erasure.
#[derive(Debug, thiserror::Error)]
pub enum ExpiryError {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Erases all conversations that have reached their age at a time. Returns their number.
///
/// # Errors
///
/// If they can't be read, or no data can be written. Some may be erased by then.
pub async fn erase_expired(app: &AppState, now: Timestamp) -> Result<usize, ExpiryError> {
    let retention = &app.settings.retention;
    let expiry = Expiry {
        now,
        days: retention.days,
        temporary_ms: i64::try_from(retention.temporary.as_millis()).unwrap_or(i64::MAX),
    };
    let mut count = 0;
    loop {
        // A part at a time, so that other changes do not wait for all.
        let expired = app.storage.expired_conversations(expiry).await?;
        let mut erased = 0;
        for ended in expired {
            erased += usize::from(erase_one(app, ended).await?);
        }
        // What is left can't be erased; if it is as much as a part, it hides the others until it can.
        if erased == 0 {
            return Ok(count);
        }
        count += erased;
    }
}

/// Erases a conversation that has reached its age. Returns false if it has changed meanwhile, or can't be erased: the others
/// do not wait for it.
///
/// # Errors
///
/// If no data can be written.
async fn erase_one(app: &AppState, ended: ExpiredConversation) -> Result<bool, JournalError> {
    let ExpiredConversation {
        user_id,
        conversation_id,
        before,
        reason,
    } = ended;
    let expire = ConversationChange::Expire { before, reason };
    match app.runs.erase(user_id, conversation_id, expire).await {
        Err(error @ JournalError::Unavailable(kind)) if kind != StorageErrorKind::Damaged => Err(error),
        Err(error) => {
            tracing::error!(%error, %conversation_id, "a conversation that has reached its age can't be erased");
            Ok(false)
        }
        erased => erased,
    }
}

/// Sets the days after which the user's conversations are erased; 0 for the setting of the server.
pub async fn choose(caller: &Caller, days: u32) -> Result<(), ApiError> {
    let (limit, setting) = match caller.app.settings.retention.days {
        0 => (MAX_DAYS, ""),
        limit => (limit, " (setting retention.days)"),
    };
    if days > limit {
        let message = format!(
            "Conversations are erased after at most {limit} days here{setting}. Your choice is unchanged; choose fewer days."
        );
        return Err(ApiError::new(ErrorCode::BadRequest, message));
    }
    let user_id = caller.user_id;
    let change = PersonalChange::SetRetention { days };
    caller
        .app
        .journal
        .submit(Change::Personal { user_id, change })
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_set_clock_is_noticed() {
        let before = Reading::now();
        let after = |passed: u64, moved: i64| {
            let reading = Reading {
                steady: before.steady + Duration::from_secs(passed),
                clock: Timestamp(before.clock.0 + moved * 1000),
            };
            reading.is_ahead_of(before)
        };
        assert!(!after(3600, 3600));
        assert!(!after(3600, 3660), "it may drift");
        assert!(after(3600, 3661));
        assert!(after(0, 400 * 86_400));
        assert!(!after(3600, -400 * 86_400), "then nothing is old");
    }
}
