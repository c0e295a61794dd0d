//! The query about model calls.

use crate::sql::database::{Connection, query};

use super::{id, read_undamaged_rows};
use crate::{RecordedModelCall, StorageError};
use parlor_protocol::{MessageId, UserId};

/// Returns all recorded calls of a run, oldest first.
pub(super) async fn calls_of_run(
    connection: &mut Connection,
    user_id: UserId,
    message_id: MessageId,
) -> Result<Vec<RecordedModelCall>, StorageError> {
    let rows = query(
        "SELECT id, request, response FROM model_calls WHERE user_id = $1 AND message_id = $2 ORDER BY id",
    )
    .bind_value(user_id)
    .bind_value(message_id)
    .fetch_all(connection)
    .await?;
    read_undamaged_rows("model_calls", "id", &rows, |row| {
        Ok(RecordedModelCall {
            id: id(row, "id")?,
            request: Some(row.try_get("request")?),
            response: row.try_get("response")?,
        })
    })
}
