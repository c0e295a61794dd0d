//! How a conversation's model is asked, and what it is told in place of what there is no room for.

use sqlx::SqliteConnection;

use super::{Batch, Failure};
use crate::{
    protocol::{ConversationId, EventBody, Parameters, UserId},
    storage::{Outcome, RunKey, Summary},
};

impl Batch {
    pub(super) async fn set_parameters(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        conversation_id: ConversationId,
        parameters: &Parameters,
    ) -> Result<Outcome, Failure> {
        let event = EventBody::ParametersChosen {
            parameters: parameters.clone(),
        };
        let sql = "UPDATE conversations SET parameters = ?3 WHERE user_id = ?1 AND id = ?2";
        let value = serde_json::to_string(parameters)?;
        self.update(connection, user_id, conversation_id, sql, &value, event)
            .await
    }

    /// A message that was summarised meanwhile, by another run, keeps its summary.
    pub(super) async fn summarise(
        &self,
        connection: &mut SqliteConnection,
        run: &RunKey,
        summary: &Summary,
    ) -> Result<Outcome, Failure> {
        sqlx::query(
            "INSERT INTO summaries (user_id, conversation_id, message_id, text, created_at) \
             SELECT user_id, conversation_id, id, ?4, ?5 FROM messages \
             WHERE user_id = ?1 AND conversation_id = ?2 AND id = ?3 ON CONFLICT DO NOTHING",
        )
        .bind(run.user_id.to_string())
        .bind(run.conversation_id.to_string())
        .bind(summary.reaches.to_string())
        .bind(&summary.text)
        .bind(self.at.0)
        .execute(connection)
        .await?;
        Ok(Outcome::Done)
    }
}
