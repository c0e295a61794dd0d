//! Changes of the list of conversations: of some of them, or of all.

use futures::future::join_all;

use super::{Caller, deletion};
use parlor_protocol::{ApiError, ConversationId, ErrorCode, ListChange};
use parlor_storage::{Change, ConversationChange};

/// Changes conversations in the list.
///
/// # Errors
///
/// The first one, if some could not be changed; the others are changed nevertheless.
pub async fn change(caller: &Caller, ids: &[ConversationId], change: ListChange) -> Result<(), ApiError> {
    let limit = caller.app.settings.limits.changed_conversations;
    if ids.len() > limit {
        let message = format!(
            "One request changes at most {limit} conversations (setting limits.changed_conversations). Nothing was changed; select fewer."
        );
        return Err(ApiError::new(ErrorCode::TooLarge, message));
    }
    let changes = ids.iter().map(|id| change_one(caller, *id, change));
    let outcomes = join_all(changes).await;
    let failed = outcomes.iter().filter(|outcome| outcome.is_err()).count();
    let Some(Err(mut error)) = outcomes.into_iter().find(Result::is_err) else {
        return Ok(());
    };
    if ids.len() > 1 {
        error.message = format!(
            "{failed} of {} conversations could not be changed. {}",
            ids.len(),
            error.message
        );
    }
    Err(error)
}

async fn change_one(caller: &Caller, id: ConversationId, change: ListChange) -> Result<(), ApiError> {
    let limit = caller.app.settings.limits.pinned_conversations;
    let change = match change {
        ListChange::Pin => ConversationChange::Pin {
            is_pinned: true,
            limit,
        },
        ListChange::Unpin => ConversationChange::Pin {
            is_pinned: false,
            limit,
        },
        ListChange::Archive => ConversationChange::Archive { is_archived: true },
        ListChange::Unarchive => ConversationChange::Archive { is_archived: false },
        ListChange::MarkRead => ConversationChange::MarkRead,
        ListChange::Keep => ConversationChange::Keep,
        ListChange::Restore => ConversationChange::Restore,
        ListChange::Delete => return deletion::trash_conversation(caller, id).await,
    };
    submit(caller, id, change).await
}

/// Marks all conversations of the user as read.
pub async fn mark_all_read(caller: &Caller) -> Result<(), ApiError> {
    let unseen = caller.app.storage.unseen_conversations(caller.user_id).await?;
    let marks = unseen
        .into_iter()
        .map(|id| submit(caller, id, ConversationChange::MarkRead));
    join_all(marks).await.into_iter().collect()
}

async fn submit(
    caller: &Caller,
    conversation_id: ConversationId,
    change: ConversationChange,
) -> Result<(), ApiError> {
    let user_id = caller.user_id;
    let change = Change::Conversation {
        user_id,
        conversation_id,
        change,
    };
    caller.app.journal.submit(change).await?;
    Ok(())
}
