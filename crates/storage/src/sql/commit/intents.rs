//! Completed intents: a repeated intent has no further effect.

use crate::sql::database::{Connection, Row, query};

use super::ChangeError;
use crate::{Change, CompletedIntent, StorageError, damage::name_damaged};
use parlor_protocol::{IntentId, Timestamp, UserId, intent::StartedRun};

/// The request of a client under an id that the client chose.
#[derive(Clone, Copy)]
pub(super) struct IntentRequest<'a> {
    user_id: UserId,
    intent: IntentId,
    fingerprint: &'a str,
}

/// Returns the request behind a change, if the change has an intent id.
pub(super) fn intent_request(change: &Change) -> Option<IntentRequest<'_>> {
    match change {
        Change::Intent { user_id, change } => Some(IntentRequest {
            user_id: *user_id,
            intent: change.id(),
            fingerprint: change.fingerprint(),
        }),
        Change::Output { .. }
        | Change::Run(_)
        | Change::Conversation { .. }
        | Change::File(_)
        | Change::Library { .. }
        | Change::Personal { .. }
        | Change::Project { .. }
        | Change::Schedule { .. }
        | Change::Column { .. }
        | Change::Job { .. }
        | Change::Share(_)
        | Change::Account(_)
        | Change::Endpoint { .. } => None,
    }
}

/// Returns the run that this intent started before, if it was completed; the inner `None` means that it
/// starts none.
pub(super) async fn started_by_intent(
    connection: &mut Connection,
    IntentRequest {
        user_id,
        intent,
        fingerprint,
    }: IntentRequest<'_>,
) -> Result<Option<Option<StartedRun>>, ChangeError> {
    let done = completed_intent(connection, user_id, intent).await?;
    Ok(done.map(|done| done.replay(fingerprint)).transpose()?)
}

/// Returns the result of an intent, if it was completed before.
pub(in crate::sql) async fn completed_intent(
    connection: &mut Connection,
    user_id: UserId,
    intent: IntentId,
) -> Result<Option<CompletedIntent>, StorageError> {
    let row = query("SELECT fingerprint, started FROM intents WHERE user_id = $1 AND id = $2")
        .bind_value(user_id)
        .bind_value(intent)
        .fetch_optional(connection)
        .await?;
    let read = |row: &Row| -> Result<_, StorageError> {
        Ok(CompletedIntent {
            fingerprint: row.try_get("fingerprint")?,
            started: serde_json::from_str(&row.try_get::<String>("started")?)?,
        })
    };
    let done = row.map(|row| name_damaged("intents", intent.0, read(&row)));
    done.transpose()
}

pub(super) async fn store_intent(
    connection: &mut Connection,
    IntentRequest {
        user_id,
        intent,
        fingerprint,
    }: IntentRequest<'_>,
    started: Option<StartedRun>,
    at: Timestamp,
) -> Result<(), ChangeError> {
    query("INSERT INTO intents (user_id, id, fingerprint, started, created_at) VALUES ($1, $2, $3, $4, $5)")
        .bind_value(user_id)
        .bind_value(intent)
        .bind(fingerprint)
        .bind(serde_json::to_string(&started)?)
        .bind_value(at)
        .execute(connection)
        .await?;
    Ok(())
}
