//! Starting turns: shared by the page, the plain form and the public API.

use super::Caller;
use parlor_protocol::{
    ApiError, ConversationId,
    intent::{Regenerate, SendMessage, StartedRun},
};
use parlor_storage::{Change, ConversationChange};

/// Saves a message and starts its run. Rejects it while a run is active in the conversation.
pub async fn send(caller: &Caller, intent: SendMessage, fingerprint: String) -> Result<StartedRun, ApiError> {
    let runs = &caller.app.runs;
    Ok(runs.send(caller.user_id, intent, fingerprint).await?)
}

/// Saves a message and starts its run. While a run is active in the conversation, the message waits in its queue.
pub async fn send_or_queue(
    caller: &Caller,
    intent: SendMessage,
    fingerprint: String,
) -> Result<StartedRun, ApiError> {
    let runs = &caller.app.runs;
    Ok(runs.send_or_queue(caller.user_id, intent, fingerprint).await?)
}

/// Regenerates an answer: answers the same message again.
pub async fn regenerate(
    caller: &Caller,
    intent: Regenerate,
    fingerprint: String,
) -> Result<StartedRun, ApiError> {
    let runs = &caller.app.runs;
    Ok(runs.regenerate(caller.user_id, intent, fingerprint).await?)
}

/// Sets the model that answers in a conversation from now on.
pub async fn choose_model(
    caller: &Caller,
    conversation_id: ConversationId,
    name: &str,
) -> Result<(), ApiError> {
    let user_id = caller.user_id;
    let model = caller.app.runs.find_model(user_id, name).await?;
    let change = Change::Conversation {
        user_id,
        conversation_id,
        change: ConversationChange::ChooseModel { model },
    };
    caller.app.journal.submit(change).await?;
    Ok(())
}
