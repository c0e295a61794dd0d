//! Deletion of a conversation, or of a message with all that follow it: hidden at once, erased when it can't be undone any
//! more.

use std::time::Duration;

use tokio::time::sleep;

use super::{AppState, Caller};
use parlor_base::clock;
use parlor_journal::JournalError;
use parlor_protocol::{ApiError, ConversationId, MessageId, Timestamp, UserId};
use parlor_storage::{Change, ConversationChange, StorageErrorKind};

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
        let erase = ConversationChange::EraseMessage {
            message_id,
            hidden_at,
        };
        tokio::spawn(erase_later(app, (user_id, conversation_id), erase, undo));
        Ok::<_, JournalError>(())
    });
    let broke = JournalError::Unavailable(StorageErrorKind::Other);
    Ok(hiding.await.map_err(|_| broke)??)
}

/// Deletes a conversation, stops its run, and erases it later.
pub async fn trash_conversation(caller: &Caller, conversation_id: ConversationId) -> Result<(), ApiError> {
    let (app, user_id) = (caller.app.clone(), caller.user_id);
    // As above.
    let trashing = tokio::spawn(async move {
        let trashed_at = clock::now();
        app.runs.trash(user_id, conversation_id, trashed_at).await?;
        let undo = app.settings.timeouts.undo;
        let erase = ConversationChange::Erase { trashed_at };
        tokio::spawn(erase_later(app, (user_id, conversation_id), erase, undo));
        Ok::<_, JournalError>(())
    });
    let broke = JournalError::Unavailable(StorageErrorKind::Other);
    Ok(trashing.await.map_err(|_| broke)??)
}

/// Stops the runs of the conversations that a user has deleted at a time, with their project, and erases them later. Returns
/// them.
pub async fn finish_trashed(
    app: &AppState,
    user_id: UserId,
    trashed_at: Timestamp,
) -> Result<Vec<ConversationId>, ApiError> {
    let trashed = app.storage.trashed_conversations().await?.into_iter();
    let trashed = trashed.filter(|trashed| (trashed.user_id, trashed.trashed_at) == (user_id, trashed_at));
    let trashed: Vec<_> = trashed.collect();
    let ids: Vec<_> = trashed.iter().map(|trashed| trashed.conversation_id).collect();
    // First of all: what is deleted must be erased, whatever fails later. One after the other: all at once, they would be one
    // long transaction.
    let (erasing, erased) = (app.clone(), ids.clone());
    tokio::spawn(async move {
        let mut wait = erasing.settings.timeouts.undo;
        for id in erased {
            let erase = ConversationChange::Erase { trashed_at };
            erase_later(erasing.clone(), (user_id, id), erase, wait).await;
            wait = Duration::ZERO;
        }
    });
    for run in trashed.iter().filter_map(|trashed| trashed.active_run) {
        if let Err(error) = app.runs.stop(user_id, run).await {
            tracing::warn!(%error, "the answer of a deleted conversation could not be stopped");
        }
    }
    Ok(ids)
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

/// Erases what an earlier process has hidden, each when its time is over.
pub async fn erase_hidden(app: AppState) {
    let storage = &app.storage;
    let (messages, conversations) = tokio::join!(storage.hidden_messages(), storage.trashed_conversations());
    // One that can't be read does not keep the other.
    let messages = messages.unwrap_or_else(|error| {
        tracing::error!(%error, "deleted messages can't be erased before the next start");
        Vec::new()
    });
    let mut conversations = conversations.unwrap_or_else(|error| {
        tracing::error!(%error, "deleted conversations can't be erased before the next start");
        Vec::new()
    });
    for ((user_id, conversation_id, message_id), hidden_at) in messages {
        let erase = ConversationChange::EraseMessage {
            message_id,
            hidden_at,
        };
        let rest = time_left(&app, hidden_at);
        tokio::spawn(erase_later(app.clone(), (user_id, conversation_id), erase, rest));
    }
    // One after the other, as above. The first ones have the least time left.
    conversations.sort_by_key(|trashed| trashed.trashed_at);
    tokio::spawn(async move {
        for trashed in conversations {
            let trashed_at = trashed.trashed_at;
            let key = (trashed.user_id, trashed.conversation_id);
            let rest = time_left(&app, trashed_at);
            let erase = ConversationChange::Erase { trashed_at };
            erase_later(app.clone(), key, erase, rest).await;
        }
    });
}

/// The time for which a deletion can still be undone.
fn time_left(app: &AppState, deleted_at: Timestamp) -> Duration {
    let age = u64::try_from(clock::now().0.saturating_sub(deleted_at.0)).unwrap_or_default();
    let undo = app.settings.timeouts.undo;
    undo.saturating_sub(Duration::from_millis(age))
}

/// Erases what is still hidden after a time. The next start does it if the server ends before.
async fn erase_later(
    app: AppState,
    (user_id, conversation_id): (UserId, ConversationId),
    erase: ConversationChange,
    mut wait: Duration,
) {
    loop {
        tokio::select! {
            () = sleep(wait) => {}
            () = app.shutdown.cancelled() => return,
        }
        match app.runs.erase(user_id, conversation_id, erase.clone()).await {
            Ok(_) => return,
            Err(error @ JournalError::Unavailable(kind)) if kind != StorageErrorKind::Damaged => {
                tracing::error!(%error, "what was deleted can't be erased; trying again");
                wait = ERASE_RETRY_DELAY;
            }
            Err(error) => {
                tracing::error!(%error, "what was deleted can't be erased before the next start");
                return;
            }
        }
    }
}
