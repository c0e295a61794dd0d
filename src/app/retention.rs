//! The end of conversations by their age: of temporary ones, and of all by the setting `retention.days` or by the choice of
//! their user.

use super::{AppState, Caller};
use parlor_base::clock;
use parlor_journal::JournalError;
use parlor_protocol::{ApiError, ErrorCode, Timestamp};
use parlor_storage::{Change, ConversationChange, Expiry, PersonalChange, StorageError};

/// The maximum number of days that a user can choose.
const MAX_DAYS: u32 = 36_500;

/// Erases conversations that have reached their age, at the start and then periodically.
pub async fn erase_expired_periodically(app: AppState) {
    let mut ticks = tokio::time::interval(app.settings.retention.interval);
    loop {
        ticks.tick().await;
        match erase_expired(&app, clock::now()).await {
            Ok(0) => {}
            Ok(erased) => tracing::info!(erased, "erased conversations that have reached their age"),
            Err(error) => {
                tracing::error!(%error, "conversations that have reached their age could not be erased; trying again later")
            }
        }
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
/// If they can't be read or erased. Some may be erased by then.
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
        if expired.is_empty() {
            return Ok(count);
        }
        count += expired.len();
        for ended in expired {
            let erase = ConversationChange::Expire { before: ended.before };
            app.runs
                .erase(ended.user_id, ended.conversation_id, erase)
                .await?;
        }
    }
}

/// Sets the days after which the user's conversations are erased; 0 for the setting of the server.
pub async fn choose(caller: &Caller, days: u32) -> Result<(), ApiError> {
    let limit = match caller.app.settings.retention.days {
        0 => MAX_DAYS,
        limit => limit,
    };
    if days > limit {
        let message = format!(
            "Conversations are erased after at most {limit} days here. Your choice is unchanged; choose fewer days."
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
