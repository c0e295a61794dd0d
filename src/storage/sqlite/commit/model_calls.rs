//! How runs have called their models. No conversation shows it, so nothing of it is in the log: who looks at it loads it.

use sqlx::SqliteConnection;

use super::{Batch, ChangeError};
use crate::storage::{Outcome, RecordedCall, RunKey};

/// Of one run, which can be continued any number of times, so many calls are kept. Most are written down as what they add to the one
/// before; among so many there is always one that is whole (`runs::recorder` sees to it), and what is before that can be forgotten.
const MAX_CALLS_PER_RUN: i64 = 64;

/// Keeps a call, and forgets all runs of its conversation that have calls but for the newest ones, and all calls of its run but for
/// the newest ones. Ids that were made later sort later.
pub(super) const RECORD_CALL: &str = "INSERT INTO model_calls (message_id, id, user_id, conversation_id, request, response) \
         VALUES (?1, ?6, ?2, ?3, ?7, ?8) \
         ON CONFLICT (message_id, id) DO UPDATE SET request = excluded.request, response = excluded.response; \
     DELETE FROM model_calls WHERE user_id = ?2 AND conversation_id = ?3 AND message_id NOT IN \
         (SELECT DISTINCT message_id FROM model_calls WHERE conversation_id = ?3 ORDER BY message_id DESC LIMIT ?4); \
     DELETE FROM model_calls WHERE user_id = ?2 AND message_id = ?1 AND id NOT IN \
         (SELECT id FROM model_calls WHERE message_id = ?1 ORDER BY id DESC LIMIT ?5)";

impl Batch {
    /// Writes down a call, or what has come of it since.
    pub(super) async fn record_call(
        &mut self,
        connection: &mut SqliteConnection,
        run: &RunKey,
        call: &RecordedCall,
        keep_runs: usize,
    ) -> Result<Outcome, ChangeError> {
        let (user, message) = (run.user_id.to_string(), run.message_id.to_string());
        let Some(request) = &call.request else {
            sqlx::query(
                "UPDATE model_calls SET response = ? WHERE user_id = ? AND message_id = ? AND id = ?",
            )
            .bind(&call.response)
            .bind(&user)
            .bind(&message)
            .bind(call.id.to_string())
            .execute(connection)
            .await?;
            return Ok(Outcome::Done);
        };
        sqlx::query(RECORD_CALL)
            .bind(message)
            .bind(user)
            .bind(run.conversation_id.to_string())
            .bind(i64::try_from(keep_runs).unwrap_or(i64::MAX))
            .bind(MAX_CALLS_PER_RUN)
            .bind(call.id.to_string())
            .bind(request)
            .bind(&call.response)
            .execute(connection)
            .await?;
        Ok(Outcome::Done)
    }
}
