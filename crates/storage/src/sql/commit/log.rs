//! The log of a transaction: the events of its changes in their order, and the rows they are written to.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use crate::sql::database::{Connection, query};

use super::{
    super::{database::dialect, id, json, log_page, position, writer::BEGIN},
    Batch, ChangeError, Transaction,
};
use crate::{Change, LoggedEvent, StorageError, damage::skip_damaged};
use parlor_protocol::{
    ConversationId, Event, EventBody, MessageId, Placeholder, Position, UserEvent, UserId,
};

/// The rows of one text: few round trips to the database thread, and well under SQLite's limit of 32,766
/// bound values.
const MAX_ROWS_PER_TEXT: usize = 200;

/// The rows of one statement of such a text on SQLite, which looks up each parameter of a statement among all of them. On Postgres each
/// statement is a round trip.
const MAX_ROWS_PER_STATEMENT: usize = 16;

/// The rows of a text that is kept prepared, with one log and with two. Whose row is the first, the second and so on makes texts of two logs
/// differ, and too many of them would take the places of other statements.
const MAX_KEPT_ROWS: [usize; 2] = [16, 4];

/// Sets the position of the last event in a log. An update checks the types of all columns: a damaged one is set, too.
macro_rules! set_position {
    () => {
        "UPDATE users SET position = ${1}, trimmed = CASE typeof(trimmed) WHEN 'integer' THEN trimmed ELSE \
             coalesce((SELECT min(position) FROM events WHERE user_id = ${0} AND position BETWEEN 1 AND 9007199254740991), 1) - 1 END \
         WHERE id = ${0}; "
    };
}

impl Batch<'_> {
    /// Returns the last position of a user's log, including the events of this transaction.
    pub(super) async fn last_position(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
    ) -> Result<Position, StorageError> {
        Ok(match self.last_positions.get(&user_id) {
            Some(head) => *head,
            None if let Some(head) = self.known_positions.get(&user_id) => *head,
            None => {
                if connection.is_postgres() && !self.locked_logs.contains(&user_id) {
                    let lock = query(dialect::LOCK_LOG_ON_POSTGRES).bind_value(user_id);
                    lock.fetch_all(&mut *connection).await?;
                    self.locked_logs.insert(user_id);
                }
                log_page::last_log_position(connection, user_id).await?
            }
        })
    }

    /// Gives an event the next position of its user's log. The event is written with the batch.
    pub(super) async fn log_event(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        conversation_id: ConversationId,
        message_id: Option<MessageId>,
        body: impl Into<EventBody>,
    ) -> Result<Position, StorageError> {
        let position = self.last_position(connection, user_id).await?.next();
        let event = Event {
            position,
            conversation_id,
            message_id,
            body: body.into(),
        };
        let json = serde_json::to_string(&event)?;
        self.last_positions.insert(user_id, position);
        self.events.push(LoggedEvent { user_id, event, json });
        Ok(position)
    }

    /// Erases the logged events of a user, without a conversation, that have `id` at a path of their JSON; in those of this
    /// transaction `is_about` finds them. Unreadable ones are erased too, since they may be about it.
    pub(super) async fn erase_logged_changes(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        (path, id): (&str, &str),
        is_about: impl Fn(&UserEvent) -> bool,
    ) -> Result<(), StorageError> {
        query(
            "UPDATE events SET event = '{\"position\":' || position || ',\"type\":\"empty\"}' \
             WHERE +user_id = $1 AND message_id IS NULL AND conversation_id = $2 \
             AND CASE WHEN json_valid(event) THEN json_extract(event, $3) ELSE $4 END = $4",
        )
        .bind_value(user_id)
        .bind_value(ConversationId::NONE)
        .bind(path)
        .bind(id)
        .execute(connection)
        .await?;
        let is_erased = |logged: &LoggedEvent| {
            logged.user_id == user_id
                && matches!(&logged.event.body, EventBody::User(event) if is_about(event))
        };
        self.events
            .iter_mut()
            .filter(|logged| is_erased(logged))
            .for_each(erase_event);
        Ok(())
    }

    /// Begins the transaction, for a statement outside of a change's savepoint.
    pub(super) async fn ensure_begun(&mut self, connection: &mut Connection) -> Result<(), StorageError> {
        if self.transaction == Transaction::NotBegun {
            query(BEGIN).execute(connection).await?;
            self.transaction = Transaction::Begun;
        }
        Ok(())
    }

    /// Begins the transaction and locks the logs of the changes, in the order of their users, so that nobody else gives the same
    /// positions.
    pub(super) async fn lock_logs(
        &mut self,
        connection: &mut Connection,
        changes: &[Change],
    ) -> Result<(), StorageError> {
        self.ensure_begun(&mut *connection).await?;
        let owners: BTreeSet<UserId> = changes.iter().filter_map(Change::log_owner).collect();
        let locked = query(dialect::LOCK_LOGS_ON_POSTGRES)
            .bind_list(owners)
            .fetch_all(connection)
            .await?;
        for row in &locked {
            self.locked_logs
                .extend(skip_damaged("users", "of changes", id::<UserId>(row, "id"))?);
        }
        Ok(())
    }

    /// Writes the events and the logs' new last positions, and commits. A batch that changes nothing else takes one round
    /// trip to the database thread.
    pub(super) async fn write_events_and_commit(
        &mut self,
        connection: &mut Connection,
    ) -> Result<(), StorageError> {
        if self.events.is_empty() && self.transaction == Transaction::NotBegun {
            return Ok(());
        }
        self.notify_nodes(&mut *connection).await?;
        let mut chunks = self.events.chunks(MAX_ROWS_PER_TEXT).peekable();
        let mut begun = self.transaction != Transaction::NotBegun;
        let rows_per_statement = match connection.is_postgres() {
            true => MAX_ROWS_PER_TEXT,
            false => MAX_ROWS_PER_STATEMENT,
        };
        loop {
            let rows = chunks.next().unwrap_or_default();
            let is_last = chunks.peek().is_none();
            let sql = log_statements(rows, &self.last_positions, rows_per_statement, begun, is_last);
            let max_kept = MAX_KEPT_ROWS.get(self.last_positions.len().saturating_sub(1));
            let is_kept = max_kept.is_some_and(|max| rows.len() <= *max);
            let mut statements = query(sql).persistent(is_kept).bind_value(self.at);
            for (user_id, position) in &self.last_positions {
                statements = statements.bind_value(user_id).bind_value(position);
            }
            for LoggedEvent { event, json, .. } in rows {
                statements = statements
                    .bind_value(event.position)
                    .bind_value(event.conversation_id)
                    .bind_value(event.message_id)
                    .bind(json);
            }
            statements.execute(&mut *connection).await?;
            if is_last {
                return Ok(());
            }
            begun = true;
        }
    }
}

/// Returns the statements that write events. The last ones of a batch also set the last positions of the logs, and commit.
/// Parameters: the time, then user and last position of each log, then position, conversation, message and content of each
/// event.
fn log_statements(
    rows: &[LoggedEvent],
    logs: &BTreeMap<UserId, Position>,
    rows_per_statement: usize,
    begun: bool,
    is_last: bool,
) -> String {
    let mut sql = match begun {
        true => String::new(),
        false => "BEGIN IMMEDIATE; ".to_owned(),
    };
    let users: Vec<_> = logs.keys().collect();
    let mut first = 2 + 2 * users.len();
    for rows in rows.chunks(rows_per_statement) {
        sql.push_str(
            "INSERT INTO events (user_id, created_at, position, conversation_id, message_id, event) VALUES ",
        );
        for (index, LoggedEvent { user_id, .. }) in rows.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            let user = 2 + 2 * users.binary_search(&user_id).unwrap_or_default();
            let [conversation, message, event] = [first + 1, first + 2, first + 3];
            // Writing to a string can't fail.
            let _ = write!(
                sql,
                "{separator}(${user}, $1, ${first}, ${conversation}, ${message}, ${event})"
            );
            first += 4;
        }
        sql.push_str("; ");
    }
    if is_last {
        for index in 0..users.len() {
            let _ = write!(sql, set_position!(), 2 + 2 * index, 3 + 2 * index);
        }
        sql.push_str("COMMIT");
    }
    sql
}

/// Empties stored events, followed by a further condition: the log keeps their positions and no content. Damaged columns are
/// set, too: an update checks the types of all. An event without a readable position has no place in the log.
pub(super) const EMPTY_EVENTS: &str = "UPDATE events SET message_id = NULL, \
     conversation_id = coalesce(CAST(conversation_id AS TEXT), ''), created_at = CAST(coalesce(created_at, 0) AS BIGINT), \
     event = '{\"position\":' || position || ',\"conversation_id\":\"' || coalesce(CAST(conversation_id AS TEXT), '') || '\",\"type\":\"empty\"}' \
     WHERE typeof(position) = 'integer'";

/// Replaces the title of a conversation in its stored events.
pub(super) async fn replace_logged_title(
    connection: &mut Connection,
    (user, conversation): (UserId, ConversationId),
    erased_title: &str,
    title: &str,
) -> Result<(), ChangeError> {
    let rows = query(
        "SELECT position, event FROM events WHERE +user_id = $1 AND conversation_id = $2 \
             AND typeof(position) = 'integer' AND instr(event, $3) > 0",
    )
    .bind_value(user)
    .bind_value(conversation)
    .bind("\"title\":")
    .fetch_all(&mut *connection)
    .await?;
    for row in &rows {
        // An unreadable event shows no title.
        let Ok(mut event) = json::<serde_json::Value>(row, "event") else {
            continue;
        };
        let path = match event.get("title") {
            Some(_) => "/title",
            None => "/conversation/title",
        };
        let Some(logged) = event.pointer_mut(path).filter(|logged| **logged == erased_title) else {
            continue;
        };
        *logged = title.into();
        query("UPDATE events SET event = $3 WHERE user_id = $1 AND position = $2")
            .bind_value(user)
            .bind_value(position(row, "position")?)
            .bind(event.to_string())
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// Erases the content of an event that is not stored yet.
pub(super) fn erase_event(logged: &mut LoggedEvent) {
    logged.event.message_id = None;
    logged.event.body = Placeholder::Empty.into();
    if let Ok(json) = serde_json::to_string(&logged.event) {
        logged.json = json;
    }
}
