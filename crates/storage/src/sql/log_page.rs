//! Queries about logs: their pages, and the end of a run in them. A damaged event takes its place and costs nothing else.

use crate::sql::database::{Connection, Query, Row, query};
use futures::TryStreamExt;
use serde::de::Error as _;

use super::{
    id,
    log_range::{LogRange, log_range},
    optional_id, optional_position, position,
};
use crate::{LOG_PAGE_BYTES, LogPage, LoggedEvent, StorageError, StoredRun, damage::skip_damaged};
use parlor_protocol::{ConversationId, Event, EventBody, MessageId, Placeholder, Position, UserId};

// The + in front of a column disables its index. The planner has no statistics and would otherwise scan the
// user's whole log instead of the run's part of it.

// The log's range is in the row of each event, and in one row without event if there is none: one query is
// consistent and needs one round trip to the database thread.

pub(crate) const SELECT_USER_EVENTS: &str = concat!(
    "SELECT ",
    log_range!(),
    ", e.position, e.event FROM users u \
     LEFT JOIN events e ON e.user_id = u.id AND e.position > $2 WHERE u.id = $1 ORDER BY e.position LIMIT $3"
);

pub(crate) const SELECT_RUN_EVENTS: &str = concat!(
    "SELECT ",
    log_range!(),
    ", e.position, e.event FROM users u \
     LEFT JOIN events e ON e.message_id = $4 AND +e.user_id = u.id AND e.position > $2 WHERE u.id = $1 \
     ORDER BY e.position LIMIT $3"
);

/// The same without the user's row, which may be damaged. They return no row if there is no event.
const SELECT_USER_EVENTS_ALONE: &str = concat!(
    "SELECT ",
    log_range!(),
    ", e.position, e.event FROM events e WHERE e.user_id = $1 AND e.position > $2 ORDER BY e.position LIMIT $3"
);

const SELECT_RUN_EVENTS_ALONE: &str = concat!(
    "SELECT ",
    log_range!(),
    ", e.position, e.event FROM events e WHERE e.message_id = $4 AND +e.user_id = $1 AND e.position > $2 \
     ORDER BY e.position LIMIT $3"
);

/// Returns the position of the last event in a user's log.
pub(crate) async fn last_log_position(
    connection: &mut Connection,
    user_id: UserId,
) -> Result<Position, StorageError> {
    Ok(LogRange::read(connection, user_id).await?.head)
}

pub(super) async fn events_after(
    connection: &mut Connection,
    user_id: UserId,
    after: Position,
    run: Option<MessageId>,
    limit: usize,
) -> Result<LogPage, StorageError> {
    let select = match run {
        Some(_) => [SELECT_RUN_EVENTS, SELECT_RUN_EVENTS_ALONE],
        None => [SELECT_USER_EVENTS, SELECT_USER_EVENTS_ALONE],
    };
    for sql in select {
        let mut query = query(sql)
            .bind_value(user_id)
            .bind_value(after)
            .bind(limit as i64);
        if let Some(run) = run {
            query = query.bind_value(run);
        }
        if let Some(page) = read_log_page(&mut *connection, query, (user_id, after), limit).await? {
            return Ok(page);
        }
    }
    // An unknown user has an empty log.
    Ok(match after > last_log_position(connection, user_id).await? {
        true => LogPage::Reset,
        false => LogPage::Events {
            events: Vec::new(),
            more: false,
        },
    })
}

/// Returns the page that a query of the log finds, or `None` if it finds no row.
async fn read_log_page(
    connection: &mut Connection,
    query: Query,
    (user_id, after): (UserId, Position),
    limit: usize,
) -> Result<Option<LogPage>, StorageError> {
    let mut rows = query.fetch(&mut *connection);
    let (mut events, mut bytes) = (Vec::new(), 0);
    let mut damaged = Vec::new();
    let mut is_known = false;
    while let Some(row) = rows.try_next().await? {
        is_known = true;
        let log = LogRange::from_row(&row)?;
        if after < log.trimmed || after > log.head {
            return Ok(Some(LogPage::Reset));
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
    if !is_known {
        return Ok(None);
    }
    for index in damaged {
        add_owner_ids(&mut *connection, &mut events[index]).await?;
    }
    let more = events.len() == limit || bytes > LOG_PAGE_BYTES;
    Ok(Some(LogPage::Events { events, more }))
}

/// Reads an entry of the log.
fn read_logged_event(row: &Row, user_id: UserId, position: Position) -> Result<LoggedEvent, StorageError> {
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
        body: EventBody::Placeholder(Placeholder::Damaged),
    }
}

/// Adds the ids of conversation and run to a damaged event, as far as its row has them.
async fn add_owner_ids(connection: &mut Connection, logged: &mut LoggedEvent) -> Result<(), StorageError> {
    let LoggedEvent { user_id, event, json } = logged;
    let row = query("SELECT conversation_id, message_id FROM events WHERE user_id = $1 AND position = $2")
        .bind_value(*user_id)
        .bind_value(event.position)
        .fetch_optional(connection)
        .await?;
    if let Some(row) = row {
        event.conversation_id = id(&row, "conversation_id").unwrap_or(ConversationId::NONE);
        event.message_id = optional_id(&row, "message_id").unwrap_or_default();
    }
    *json = serde_json::to_string(event)?;
    Ok(())
}

/// Returns the position of the event that ended a run. Without one, that of its last event; without any, the one before its
/// first.
pub(super) async fn last_run_position(
    connection: &mut Connection,
    run: &StoredRun,
) -> Result<Position, StorageError> {
    let mut rows = query(
        "SELECT position, event FROM events WHERE message_id = $1 AND +user_id = $2 AND position >= $3 \
             AND typeof(position) = 'integer' ORDER BY position DESC",
    )
    .bind_value(run.key.message_id)
    .bind_value(run.key.user_id)
    .bind_value(run.first_position)
    .fetch(connection);
    let mut last = None;
    while let Some(row) = rows.try_next().await? {
        let at = position(&row, "position")?;
        last = last.or(Some(at));
        // The tokens of a title may come after the end.
        let event = read_logged_event(&row, run.key.user_id, at);
        if event.is_ok_and(|logged| logged.event.body.terminal_status().is_some()) {
            return Ok(at);
        }
    }
    Ok(last.unwrap_or(Position(run.first_position.0.saturating_sub(1))))
}
