//! Queries about logs, conversation lists and runs; those about messages are in `messages`. The caller opens
//! a transaction where several results must be consistent.

use futures::TryStreamExt;
use serde::de::Error as _;
use sqlx::{Row, SqliteConnection, sqlite::SqliteRow};

use super::{
    id,
    log_range::{LogRange, log_range},
    number_or_zero, optional_id, optional_position, optional_text, read_undamaged_rows, text,
};
use crate::{
    protocol::{
        ConversationId, ConversationList, Event, EventBody, ListedConversation, MessageId, Position,
        RunStatus, Timestamp, UserId, conversation_list::ListCursor,
    },
    storage::{
        LOG_PAGE_BYTES, LogPage, LoggedEvent, MessageKey, RunKey, StorageError, StoredConversation,
        StoredRun, damage::skip_damaged,
    },
};

// The + in front of a column disables its index. The planner has no statistics and would otherwise scan the
// user's whole log instead of the run's part of it.

// The log's range is in the row of each event, and in one row without event if there is none: one query is
// consistent and needs one round trip to the database thread.

pub(super) const SELECT_USER_EVENTS: &str = concat!(
    "SELECT ",
    log_range!(),
    ", e.position, e.event FROM users u \
     LEFT JOIN events e ON e.user_id = u.id AND e.position > ?2 WHERE u.id = ?1 ORDER BY e.position LIMIT ?3"
);

pub(super) const SELECT_RUN_EVENTS: &str = concat!(
    "SELECT ",
    log_range!(),
    ", e.position, e.event FROM users u \
     LEFT JOIN events e ON e.message_id = ?4 AND +e.user_id = u.id AND e.position > ?2 WHERE u.id = ?1 \
     ORDER BY e.position LIMIT ?3"
);

pub(super) const SELECT_CONVERSATIONS: &str = "SELECT c.id, c.title, c.updated_at, c.activity, c.unseen, \
         r.id AS active_run, coalesce(r.status = 'waiting', 0) AS waiting FROM conversations c \
         LEFT JOIN runs r ON r.user_id = c.user_id AND r.conversation_id = c.id AND r.status IN ('running', 'waiting') \
         WHERE c.user_id = ? AND c.activity < ? ORDER BY c.activity DESC LIMIT ?";

pub(super) const SELECT_CONVERSATION: &str = "SELECT c.id, c.title, c.model, c.created_at, c.updated_at, c.activity, c.unseen, \
         r.id AS active_run, coalesce(r.status = 'waiting', 0) AS waiting FROM conversations c \
         LEFT JOIN runs r ON r.user_id = c.user_id AND r.conversation_id = c.id AND r.status IN ('running', 'waiting') \
         WHERE c.user_id = ? AND c.id = ?";

pub(super) const SELECT_RUNNING_RUNS: &str = "SELECT user_id, conversation_id, id, status, first_position, last_position FROM runs \
     WHERE status IN ('running', 'waiting') AND status = 'running' ORDER BY first_position";

/// Returns the position of the last event in a user's log.
pub(super) async fn last_log_position(
    connection: &mut SqliteConnection,
    user_id: UserId,
) -> Result<Position, StorageError> {
    Ok(LogRange::read(connection, user_id).await?.head)
}

pub(super) async fn events_after(
    connection: &mut SqliteConnection,
    user_id: UserId,
    after: Position,
    run: Option<MessageId>,
    limit: usize,
) -> Result<LogPage, StorageError> {
    let mut query = sqlx::query(if run.is_some() {
        SELECT_RUN_EVENTS
    } else {
        SELECT_USER_EVENTS
    })
    .bind(user_id.to_string())
    .bind(after.0.cast_signed())
    .bind(limit as i64);
    if let Some(run) = run {
        query = query.bind(run.to_string());
    }
    let mut rows = query.fetch(&mut *connection);
    let (mut events, mut bytes) = (Vec::new(), 0);
    let mut damaged = Vec::new();
    let mut is_known = false;
    while let Some(row) = rows.try_next().await? {
        is_known = true;
        let log = LogRange::from_row(&row)?;
        if after < log.trimmed || after > log.head {
            return Ok(LogPage::Reset);
        }
        let position = match skip_damaged("events", user_id, optional_position(&row, "position"))? {
            Some(Some(position)) => position,
            Some(None) => break,
            // An event without a readable position has no place in the log.
            None => continue,
        };
        let name = format_args!("{user_id}/{}", position.0);
        match skip_damaged("events", name, read_logged_event(&row, user_id, position))? {
            Some(logged) => {
                bytes += logged.json.len();
                events.push(logged);
            }
            None => {
                damaged.push(events.len());
                let event = damaged_event(position);
                events.push(LoggedEvent {
                    user_id,
                    event,
                    json: String::new(),
                });
            }
        }
        if bytes > LOG_PAGE_BYTES {
            break;
        }
    }
    drop(rows);
    // An unknown user has an empty log. A damaged row of a user is replaced by the next turn, whose events come
    // live, as do those of a commit between the two queries.
    if !is_known && after > last_log_position(&mut *connection, user_id).await? {
        return Ok(LogPage::Reset);
    }
    for index in damaged {
        add_owner_ids(&mut *connection, &mut events[index]).await?;
    }
    let more = events.len() == limit || bytes > LOG_PAGE_BYTES;
    Ok(LogPage::Events { events, more })
}

/// Reads an entry of the log.
fn read_logged_event(
    row: &SqliteRow,
    user_id: UserId,
    position: Position,
) -> Result<LoggedEvent, StorageError> {
    let json: String = row.try_get("event")?;
    let event: Event = serde_json::from_str(&json)?;
    if event.position != position {
        Err(serde_json::Error::custom("another event's position"))?;
    }
    Ok(LoggedEvent { user_id, event, json })
}

/// Returns a placeholder for an unreadable event.
fn damaged_event(position: Position) -> Event {
    Event {
        position,
        conversation_id: ConversationId::NONE,
        message_id: None,
        body: EventBody::Damaged,
    }
}

/// Adds the ids of conversation and run to a damaged event, as far as its row has them.
async fn add_owner_ids(
    connection: &mut SqliteConnection,
    logged: &mut LoggedEvent,
) -> Result<(), StorageError> {
    let LoggedEvent { user_id, event, json } = logged;
    let row =
        sqlx::query("SELECT conversation_id, message_id FROM events WHERE user_id = ? AND position = ?")
            .bind(user_id.to_string())
            .bind(event.position.0.cast_signed())
            .fetch_optional(connection)
            .await?;
    if let Some(row) = row {
        event.conversation_id = id(&row, "conversation_id").unwrap_or(ConversationId::NONE);
        event.message_id = optional_id(&row, "message_id").unwrap_or_default();
    }
    *json = serde_json::to_string(event)?;
    Ok(())
}

pub(super) async fn conversations(
    connection: &mut SqliteConnection,
    user_id: UserId,
    before: Option<ListCursor>,
    limit: usize,
) -> Result<ConversationList, StorageError> {
    let as_of = last_log_position(&mut *connection, user_id).await?;
    let before = before.map_or(i64::MAX, |cursor| cursor.activity.0.cast_signed());
    let rows = sqlx::query(SELECT_CONVERSATIONS)
        .bind(user_id.to_string())
        .bind(before)
        .bind(limit as i64 + 1)
        .fetch_all(connection)
        .await?;
    let has_more = rows.len() > limit;
    let newest = &rows[..rows.len().min(limit)];
    Ok(ConversationList {
        as_of,
        conversations: read_undamaged_rows("conversations", "id", newest, read_listed)?,
        has_more,
    })
}

fn read_listed(row: &SqliteRow) -> Result<ListedConversation, StorageError> {
    let id = id(row, "id")?;
    let number = |column| number_or_zero("conversations", id, row, column);
    Ok(ListedConversation {
        id,
        title: text(row, "title")?,
        updated_at: Timestamp(number("updated_at")?),
        activity: Position(number("activity")?.unsigned_abs()),
        active_run: skip_damaged("conversations", id, optional_id(row, "active_run"))?.flatten(),
        waiting: row.try_get("waiting")?,
        unseen: number("unseen")? != 0,
    })
}

pub(super) async fn conversation(
    connection: &mut SqliteConnection,
    user_id: UserId,
    conversation_id: ConversationId,
) -> Result<Option<StoredConversation>, StorageError> {
    let row = sqlx::query(SELECT_CONVERSATION)
        .bind(user_id.to_string())
        .bind(conversation_id.to_string())
        .fetch_optional(connection)
        .await?;
    row.map(|row| {
        let created_at = number_or_zero("conversations", conversation_id, &row, "created_at")?;
        Ok(StoredConversation {
            listed: read_listed(&row)?,
            model: optional_text(&row, "model")?,
            created_at: Timestamp(created_at),
        })
    })
    .transpose()
}

pub(super) async fn conversation_model(
    connection: &mut SqliteConnection,
    user_id: UserId,
    conversation_id: ConversationId,
) -> Result<Option<String>, StorageError> {
    let row = sqlx::query("SELECT model FROM conversations WHERE user_id = ? AND id = ?")
        .bind(user_id.to_string())
        .bind(conversation_id.to_string())
        .fetch_optional(connection)
        .await?;
    let model = row.map(|row| optional_text(&row, "model")).transpose()?;
    Ok(model.flatten())
}

/// Reads a run. Returns `None` if its row does not name its owner.
pub(super) fn read_stored_run(row: &SqliteRow) -> Result<Option<StoredRun>, StorageError> {
    let key = || -> Result<_, StorageError> {
        Ok(RunKey {
            user_id: id(row, "user_id")?,
            conversation_id: id(row, "conversation_id")?,
            message_id: id(row, "id")?,
        })
    };
    let Some(key) = skip_damaged("runs", text(row, "id")?, key())? else {
        return Ok(None);
    };
    Ok(Some(StoredRun {
        key,
        status: read_run_status(row, key.message_id)?,
        first_position: Position(
            number_or_zero("runs", key.message_id, row, "first_position")?.unsigned_abs(),
        ),
        last_position: skip_damaged("runs", key.message_id, optional_position(row, "last_position"))?
            .flatten(),
    }))
}

/// Reads the status of a run. A run with an unreadable status is not active.
pub(super) fn read_run_status(row: &SqliteRow, run: MessageId) -> Result<RunStatus, StorageError> {
    let status = text(row, "status")?;
    let read = serde_json::from_value(status.into()).map_err(StorageError::from);
    Ok(skip_damaged("runs", run, read)?.unwrap_or(RunStatus::Interrupted))
}

/// Returns the hidden messages of all users.
pub(super) async fn hidden_messages(
    connection: &mut SqliteConnection,
) -> Result<Vec<(MessageKey, Timestamp)>, StorageError> {
    let rows = sqlx::query("SELECT user_id, conversation_id, message_id, hidden_at FROM hidden_messages")
        .fetch_all(connection)
        .await?;
    read_undamaged_rows("hidden_messages", "message_id", &rows, |row| {
        let key = (
            id(row, "user_id")?,
            id(row, "conversation_id")?,
            id(row, "message_id")?,
        );
        let name = text(row, "message_id")?;
        Ok((
            key,
            Timestamp(number_or_zero("hidden_messages", name, row, "hidden_at")?),
        ))
    })
}
