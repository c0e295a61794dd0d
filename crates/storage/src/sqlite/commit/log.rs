//! The log of a transaction: the events of its changes in their order, and the rows they are written to.

use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use super::{super::log_page, Batch};
use crate::{LoggedEvent, StorageError, column_value::BindValue};
use parlor_base::crash_point;
use parlor_protocol::{ConversationId, Event, EventBody, MessageId, Position, UserId};

/// The rows of one INSERT: few round trips to the database thread, and well under SQLite's limit of 32,766
/// bound values.
const MAX_ROWS_PER_INSERT: usize = 200;

impl Batch {
    /// Returns the last position of a user's log, including the events of this transaction.
    pub(super) async fn last_position(
        &self,
        connection: &mut SqliteConnection,
        user_id: UserId,
    ) -> Result<Position, StorageError> {
        Ok(match self.last_positions.get(&user_id) {
            Some(head) => *head,
            None => log_page::last_log_position(connection, user_id).await?,
        })
    }

    /// Gives an event the next position of its user's log. The event is written with the batch.
    pub(super) async fn log_event(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        conversation_id: ConversationId,
        message_id: Option<MessageId>,
        body: EventBody,
    ) -> Result<Position, StorageError> {
        let position = self.last_position(connection, user_id).await?.next();
        let event = Event {
            position,
            conversation_id,
            message_id,
            body,
        };
        let json = serde_json::to_string(&event)?;
        self.last_positions.insert(user_id, position);
        self.events.push(LoggedEvent { user_id, event, json });
        Ok(position)
    }

    /// Writes the events and the logs' new last positions.
    pub(super) async fn write_events(&self, connection: &mut SqliteConnection) -> Result<(), StorageError> {
        for events in self.events.chunks(MAX_ROWS_PER_INSERT) {
            let mut insert: QueryBuilder<Sqlite> = QueryBuilder::new(
                "INSERT INTO events (user_id, position, conversation_id, message_id, created_at, event) ",
            );
            insert.push_values(events, |mut row, logged| {
                row.push_bind(logged.user_id.to_string())
                    .push_bind(logged.event.position.0.cast_signed())
                    .push_bind(logged.event.conversation_id.to_string())
                    .push_bind(logged.event.message_id.map(|id| id.to_string()))
                    .push_bind(self.at.0)
                    .push_bind(&logged.json);
            });
            // Statements of many different lengths would evict the others from the statement cache.
            insert
                .build()
                .persistent(events.len() == MAX_ROWS_PER_INSERT || events.len() < 8)
                .execute(&mut *connection)
                .await?;
        }
        crash_point!(
            "commit::logged",
            if self.events.iter().any(|logged| logged.event.body.terminal_status().is_some())
        );
        for (user_id, head) in &self.last_positions {
            sqlx::query(SET_HEAD)
                .bind_value(user_id)
                .bind_value(head)
                .execute(&mut *connection)
                .await?;
        }
        Ok(())
    }
}

/// Sets the position of the last event in a log. An update checks the types of all columns: a damaged one is set, too.
const SET_HEAD: &str = "UPDATE users SET position = $2, trimmed = CASE typeof(trimmed) WHEN 'integer' THEN trimmed ELSE \
         coalesce((SELECT min(position) FROM events WHERE user_id = $1 AND position BETWEEN 1 AND 9007199254740991), 1) - 1 END \
     WHERE id = $1";

/// Empties stored events, followed by a further condition: the log keeps their positions and no content. Damaged columns are
/// set, too: an update checks the types of all. An event without a readable position has no place in the log.
pub(super) const EMPTY_EVENTS: &str = "UPDATE events SET message_id = NULL, \
     conversation_id = coalesce(CAST(conversation_id AS TEXT), ''), created_at = CAST(coalesce(created_at, 0) AS INTEGER), \
     event = json_object('position', position, 'conversation_id', CAST(conversation_id AS TEXT), 'type', 'empty') \
     WHERE typeof(position) = 'integer'";

/// Erases the content of an event that is not stored yet.
pub(super) fn erase_event(logged: &mut LoggedEvent) {
    logged.event.message_id = None;
    logged.event.body = EventBody::Empty;
    if let Ok(json) = serde_json::to_string(&logged.event) {
        logged.json = json;
    }
}
