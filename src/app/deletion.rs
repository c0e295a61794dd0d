//! Deletion of a message with all that follow it: hidden at once, erased when it can't be undone any more.

use std::time::Duration;

use tokio::time::sleep;

use super::{AppState, Caller};
use parlor_base::clock;
use parlor_journal::JournalError;
use parlor_protocol::{ApiError, ConversationId, MessageId, Timestamp};
use parlor_storage::{Change, ConversationChange, MessageKey, StorageErrorKind};

/// The delay before the next attempt to erase a message, while the data can't be written.
const ERASE_RETRY_DELAY: Duration = Duration::from_secs(30);

/// Hides a message, and erases it later.
pub async fn delete_message(
    caller: &Caller,
    conversation_id: ConversationId,
    message_id: MessageId,
) -> Result<(), ApiError> {
    let (app, user_id) = (caller.app.clone(), caller.user_id);
    // In a task of its own: the caller may go away, and what is hidden must be erased.
    let hiding = tokio::spawn(async move {
        let hidden_at = clock::now();
        let hide = Change::Conversation {
            user_id,
            conversation_id,
            change: ConversationChange::DeleteMessage {
                message_id,
                hidden_at,
            },
        };
        app.journal.submit(hide).await?;
        let undo = app.settings.timeouts.undo;
        let key = (user_id, conversation_id, message_id);
        tokio::spawn(erase_later(app, key, hidden_at, undo));
        Ok::<_, JournalError>(())
    });
    let broke = JournalError::Unavailable(StorageErrorKind::Other);
    Ok(hiding.await.map_err(|_| broke)??)
}

/// Shows a deleted message again, unless it is erased.
pub async fn restore_message(
    caller: &Caller,
    conversation_id: ConversationId,
    message_id: MessageId,
) -> Result<(), ApiError> {
    let user_id = caller.user_id;
    caller
        .app
        .journal
        .submit(Change::Conversation {
            user_id,
            conversation_id,
            change: ConversationChange::RestoreMessage { message_id },
        })
        .await?;
    Ok(())
}

/// Erases the messages that an earlier process has hidden, each when its time is over.
pub async fn erase_hidden(app: AppState) {
    let hidden = match app.storage.hidden_messages().await {
        Ok(hidden) => hidden,
        Err(error) => {
            tracing::error!(%error, "deleted messages can't be erased before the next start");
            return;
        }
    };
    for (key, hidden_at) in hidden {
        let age = u64::try_from(clock::now().0.saturating_sub(hidden_at.0)).unwrap_or_default();
        let rest = app
            .settings
            .timeouts
            .undo
            .saturating_sub(Duration::from_millis(age));
        tokio::spawn(erase_later(app.clone(), key, hidden_at, rest));
    }
}

/// Erases a message that is still hidden after a time. The next start does it if the server ends before.
async fn erase_later(
    app: AppState,
    (user_id, conversation_id, message_id): MessageKey,
    hidden_at: Timestamp,
    mut wait: Duration,
) {
    loop {
        tokio::select! {
            () = sleep(wait) => {}
            () = app.shutdown.cancelled() => return,
        }
        let erase = Change::Conversation {
            user_id,
            conversation_id,
            change: ConversationChange::EraseMessage {
                message_id,
                hidden_at,
            },
        };
        match app.journal.submit(erase).await {
            Ok(_) => return,
            Err(error @ JournalError::Unavailable(kind)) if kind != StorageErrorKind::Damaged => {
                tracing::error!(%error, "a deleted message can't be erased; trying again");
                wait = ERASE_RETRY_DELAY;
            }
            Err(error) => {
                tracing::error!(%error, "a deleted message can't be erased before the next start");
                return;
            }
        }
    }
}
