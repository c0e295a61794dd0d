//! Changes of the list of conversations: of some of them, or of all.

use futures::future::join_all;

use super::{Caller, deletion};
use parlor_protocol::{ApiError, ConversationId, ErrorCode, ListChange, ListChanged};
use parlor_storage::{Change, ConversationChange, Outcome};

/// Changes conversations in the list, each by itself.
///
/// # Errors
///
/// If none is changed, the first one.
pub async fn change(
    caller: &Caller,
    ids: &[ConversationId],
    change: ListChange,
) -> Result<ListChanged, ApiError> {
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
    let mut changed = ListChanged::default();
    let mut first_error = None;
    for (id, outcome) in ids.iter().zip(outcomes) {
        match outcome {
            Ok(true) => changed.ids.push(*id),
            Ok(false) => {}
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    let Some(mut error) = first_error else {
        return Ok(changed);
    };
    if ids.len() > 1 {
        error.message = format!(
            "{failed} of {} conversations could not be changed. {}",
            ids.len(),
            error.message
        );
    }
    if changed.ids.is_empty() {
        return Err(error);
    }
    changed.failure = Some(error.message);
    Ok(changed)
}

/// Changes a conversation. Returns false if it is pinned, archived, moved or kept as requested already.
async fn change_one(caller: &Caller, id: ConversationId, change: ListChange) -> Result<bool, ApiError> {
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
        ListChange::Move { project_id } => ConversationChange::Move { project_id },
        ListChange::Keep => ConversationChange::Keep,
        ListChange::Restore => ConversationChange::Restore,
        ListChange::Delete => {
            deletion::trash_conversation(caller, id).await?;
            return Ok(true);
        }
    };
    let change = of_list(caller, id, change);
    Ok(caller.app.journal.submit(change).await? != Outcome::Unchanged)
}

/// Marks all conversations of the user as read.
pub async fn mark_all_read(caller: &Caller) -> Result<(), ApiError> {
    let unseen = caller.app.storage.unseen_conversations(caller.user_id).await?;
    let marks = unseen
        .into_iter()
        .map(|id| caller.commit(of_list(caller, id, ConversationChange::MarkRead)));
    join_all(marks).await.into_iter().collect()
}

fn of_list(caller: &Caller, conversation_id: ConversationId, change: ConversationChange) -> Change {
    Change::Conversation {
        user_id: caller.user_id,
        conversation_id,
        change,
    }
}
