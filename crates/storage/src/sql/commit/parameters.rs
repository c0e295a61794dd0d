//! Model parameters and history summaries of a conversation.

use crate::sql::database::{Connection, query};

use super::{Batch, ChangeError};
use crate::{HistorySummary, Outcome, RunKey};
use parlor_protocol::{ConversationEvent, ConversationId, Parameters, UserId};

impl Batch<'_> {
    pub(super) async fn set_parameters(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        conversation_id: ConversationId,
        parameters: &Parameters,
    ) -> Result<Outcome, ChangeError> {
        let event = ConversationEvent::ParametersChosen {
            parameters: parameters.clone(),
        };
        let sql =
            "UPDATE conversations SET parameters = $3 WHERE user_id = $1 AND id = $2 AND trashed_at IS NULL";
        let value = serde_json::to_string(parameters)?;
        self.update_conversation(connection, user_id, conversation_id, sql, &value, event)
            .await
    }

    /// Stores a summary. If another run has summarized up to the same message meanwhile, that summary is
    /// kept.
    pub(super) async fn store_summary(
        &self,
        connection: &mut Connection,
        run: &RunKey,
        summary: &HistorySummary,
    ) -> Result<Outcome, ChangeError> {
        query(
            "INSERT INTO summaries (user_id, conversation_id, message_id, text, created_at) \
             SELECT user_id, conversation_id, id, $4, $5 FROM messages \
             WHERE user_id = $1 AND conversation_id = $2 AND id = $3 ON CONFLICT DO NOTHING",
        )
        .bind_value(run.user_id)
        .bind_value(run.conversation_id)
        .bind_value(summary.last_message_id)
        .bind(&summary.text)
        .bind_value(self.at)
        .execute(connection)
        .await?;
        Ok(Outcome::Done)
    }
}
