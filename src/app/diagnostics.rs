//! Diagnostics of an answer, for the user who owns the conversation.

use super::Caller;
use parlor_protocol::{ApiError, ErrorCode, MessageId, diagnostics::DiagnosticsView};
use parlor_runs::diagnostics::Diagnostics;

/// Returns the diagnostics as the page shows them.
pub async fn view(caller: &Caller, message_id: MessageId) -> Result<DiagnosticsView, ApiError> {
    Ok(load(caller, message_id).await?.view())
}

/// Loads the diagnostics of an answer.
pub async fn load(caller: &Caller, message_id: MessageId) -> Result<Diagnostics, ApiError> {
    let storage = &caller.app.storage;
    let calls = storage.model_calls(caller.user_id, message_id).await?;
    let message = storage.message(caller.user_id, message_id).await?;
    let (conversation_id, message) = message.ok_or_else(no_diagnostics)?;
    caller.require_not_deleted(conversation_id).await?;
    let diagnostics = Diagnostics::load(conversation_id, &message, &calls)?.ok_or_else(no_diagnostics)?;
    let page_context = match message.parent_id {
        Some(question_id) => storage.context_snapshot(caller.user_id, question_id).await?,
        None => None,
    };
    Ok(match page_context {
        Some(page_context) => diagnostics.with_context(&page_context, caller.app.models.secrets())?,
        None => diagnostics,
    })
}

fn no_diagnostics() -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        "Nothing is known of how this answer was made. Only the newest answers of a conversation have diagnostics (setting \
         limits.diagnostics_answers), and those whose model was called.",
    )
}
