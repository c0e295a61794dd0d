//! How runs have called their models. No conversation shows it, so nothing of it is in the log: who looks at it loads it.

use sqlx::SqliteConnection;

use super::{Batch, Failure};
use crate::storage::{Outcome, RecordedCall, RunKey};

/// Of one run, which can be continued any number of times, so many calls are kept. Most are written down as what they add to the one
/// before; among so many there is always one that is whole (`runs::recorder` sees to it), and what is before that can be forgotten.
const MOST_OF_A_RUN: i64 = 64;

/// All runs of a conversation that have calls but for the newest ones. Ids that were made later sort later.
const OLDER_RUNS: &str = "DELETE FROM model_calls WHERE user_id = ?1 AND conversation_id = ?2 AND message_id NOT IN \
     (SELECT DISTINCT message_id FROM model_calls WHERE conversation_id = ?2 ORDER BY message_id DESC LIMIT ?3)";

const OLDER_CALLS: &str = "DELETE FROM model_calls WHERE user_id = ?1 AND message_id = ?2 AND id NOT IN \
     (SELECT id FROM model_calls WHERE message_id = ?2 ORDER BY id DESC LIMIT ?3)";

impl Batch {
    /// Writes down a call, or what has come of it since.
    pub(super) async fn record(
        &mut self,
        connection: &mut SqliteConnection,
        run: &RunKey,
        call: &RecordedCall,
        keep_runs: usize,
    ) -> Result<Outcome, Failure> {
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
        let conversation = run.conversation_id.to_string();
        sqlx::query(
            "INSERT INTO model_calls (message_id, id, user_id, conversation_id, request, response) \
             VALUES (?, ?, ?, ?, ?, ?) \
             ON CONFLICT (message_id, id) DO UPDATE SET request = excluded.request, response = excluded.response",
        )
        .bind(&message)
        .bind(call.id.to_string())
        .bind(&user)
        .bind(&conversation)
        .bind(request)
        .bind(&call.response)
        .execute(&mut *connection)
        .await?;
        let keep_runs = i64::try_from(keep_runs).unwrap_or(i64::MAX);
        for (sql, of, keep) in [
            (OLDER_RUNS, &conversation, keep_runs),
            (OLDER_CALLS, &message, MOST_OF_A_RUN),
        ] {
            sqlx::query(sql)
                .bind(&user)
                .bind(of)
                .bind(keep)
                .execute(&mut *connection)
                .await?;
        }
        Ok(Outcome::Done)
    }
}
