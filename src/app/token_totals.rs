//! The tokens and the cost of a conversation.

use super::Caller;
use parlor_protocol::{ApiError, ConversationId, TokenTotals};

/// Returns the tokens and the cost of all answers of a conversation.
///
/// # Errors
///
/// If the conversation is deleted, or the database can't be read.
pub async fn of_conversation(caller: &Caller, id: ConversationId) -> Result<TokenTotals, ApiError> {
    caller.require_not_deleted(id).await?;
    Ok(caller.app.storage.token_totals(caller.user_id, id).await?)
}
