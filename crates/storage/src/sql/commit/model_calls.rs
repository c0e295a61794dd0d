//! Recorded model calls. No conversation shows them, so they are not logged: the diagnostics load them on
//! request.

use crate::sql::database::{Connection, query};

use super::{Batch, ChangeError};
use crate::{Outcome, RecordedModelCall, RunKey};

/// The number of calls kept per run; a run can be continued any number of times. Most requests are stored as
/// an addition to the previous one. Among this many there is always a complete one (`runs::recorder` ensures
/// that), and the calls before it can be deleted.
const MAX_CALLS_PER_RUN: i64 = 64;

/// Stores a call. Deletes the calls of all but the newest runs of its conversation, and all but the newest
/// calls of its run. Ids are ordered by their creation time.
const RECORD_CALL: &str = "INSERT INTO model_calls (message_id, id, user_id, conversation_id, request, response) \
         VALUES ($1, $6, $2, $3, $7, $8) \
         ON CONFLICT (message_id, id) DO UPDATE SET request = excluded.request, response = excluded.response; \
     DELETE FROM model_calls WHERE user_id = $2 AND conversation_id = $3 AND message_id NOT IN \
         (SELECT DISTINCT message_id FROM model_calls WHERE conversation_id = $3 ORDER BY message_id DESC LIMIT $4); \
     DELETE FROM model_calls WHERE user_id = $2 AND message_id = $1 AND id NOT IN \
         (SELECT id FROM model_calls WHERE message_id = $1 ORDER BY id DESC LIMIT $5)";

impl Batch<'_> {
    /// Stores a call, or updates its response.
    pub(super) async fn record_call(
        &mut self,
        connection: &mut Connection,
        run: &RunKey,
        call: &RecordedModelCall,
        keep_runs: usize,
    ) -> Result<Outcome, ChangeError> {
        let (user, message) = (run.user_id, run.message_id);
        let Some(request) = &call.request else {
            query("UPDATE model_calls SET response = $1 WHERE user_id = $2 AND message_id = $3 AND id = $4")
                .bind(&call.response)
                .bind_value(user)
                .bind_value(message)
                .bind_value(call.id)
                .execute(connection)
                .await?;
            return Ok(Outcome::Done);
        };
        query(RECORD_CALL)
            .bind_value(message)
            .bind_value(user)
            .bind_value(run.conversation_id)
            .bind_value(keep_runs)
            .bind(MAX_CALLS_PER_RUN)
            .bind_value(call.id)
            .bind(request)
            .bind(&call.response)
            .execute(connection)
            .await?;
        Ok(Outcome::Done)
    }
}
