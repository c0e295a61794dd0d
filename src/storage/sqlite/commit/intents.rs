//! The intents that were done: the same one again does nothing again.

use sqlx::{Row, SqliteConnection};

use super::Failure;
use crate::{
    protocol::{IntentId, Timestamp, UserId, intent::Started},
    storage::{Change, DoneIntent, StorageError},
};

/// What a client asked for under an id of its own.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    user_id: UserId,
    intent: IntentId,
    fingerprint: &'a str,
}

/// The request behind a change that a client names.
pub(super) fn request(change: &Change) -> Option<Request<'_>> {
    let (user_id, intent, fingerprint) = match change {
        Change::Send {
            user_id,
            intent,
            start,
        } => (*user_id, intent.intent_id, &start.fingerprint),
        Change::Regenerate {
            user_id,
            intent,
            start,
        } => (*user_id, intent.intent_id, &start.fingerprint),
        Change::Continue {
            user_id,
            intent,
            fingerprint,
        } => (*user_id, intent.intent_id, fingerprint),
        Change::SetParameters {
            user_id,
            intent,
            fingerprint,
            ..
        } => (*user_id, intent.intent_id, fingerprint),
        Change::Judge {
            user_id,
            intent,
            fingerprint,
        } => (*user_id, intent.intent_id, fingerprint),
        Change::TakeAction {
            user_id,
            intent,
            fingerprint,
        } => (*user_id, intent.intent_id, fingerprint),
        _ => return None,
    };
    Some(Request {
        user_id,
        intent,
        fingerprint,
    })
}

/// What was started when this intent came before, if it did; nothing, if it starts nothing.
pub(super) async fn known_intent(
    connection: &mut SqliteConnection,
    Request {
        user_id,
        intent,
        fingerprint,
    }: Request<'_>,
) -> Result<Option<Option<Started>>, Failure> {
    let done = done(connection, user_id, intent).await?;
    Ok(done.map(|done| done.again(fingerprint)).transpose()?)
}

/// What became of an intent, if it was done before.
pub(in crate::storage::sqlite) async fn done(
    connection: &mut SqliteConnection,
    user_id: UserId,
    intent: IntentId,
) -> Result<Option<DoneIntent>, StorageError> {
    let row = sqlx::query("SELECT fingerprint, started FROM intents WHERE user_id = ? AND id = ?")
        .bind(user_id.to_string())
        .bind(intent.to_string())
        .fetch_optional(connection)
        .await?;
    let done = row.map(|row| {
        Ok(DoneIntent {
            fingerprint: row.try_get("fingerprint")?,
            started: serde_json::from_str(row.try_get("started")?)?,
        })
    });
    done.transpose()
}

pub(super) async fn remember(
    connection: &mut SqliteConnection,
    Request {
        user_id,
        intent,
        fingerprint,
    }: Request<'_>,
    started: Option<Started>,
    at: Timestamp,
) -> Result<(), Failure> {
    sqlx::query("INSERT INTO intents (user_id, id, fingerprint, started, created_at) VALUES (?, ?, ?, ?, ?)")
        .bind(user_id.to_string())
        .bind(intent.to_string())
        .bind(fingerprint)
        .bind(serde_json::to_string(&started)?)
        .bind(at.0)
        .execute(connection)
        .await?;
    Ok(())
}
