//! The one place that writes: several changes in one transaction, a savepoint for each.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use sqlx::{Connection, QueryBuilder, Row, Sqlite, SqliteConnection};

use super::{Writer, read};
use crate::{
    protocol::{
        AssistantMessage, ConversationId, Event, EventBody, IntentId, MessageBody, MessageId, Position,
        Timestamp, UserId,
        intent::{Regenerate, SendMessage, Started, title_from},
    },
    storage::{Change, Committed, LoggedEvent, Outcome, Refusal, RunKey, Start, StorageError},
};

/// Rows in one INSERT: fewer round trips to the database's thread, yet well under SQLite's limit of 32,766
/// bound values.
const ROWS_PER_INSERT: usize = 200;

/// Why a change was left out.
enum Failure {
    Refused(Refusal),
    Broken(StorageError),
}

impl<E: Into<StorageError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Broken(error.into())
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Writer {
    pub(super) async fn commit(
        &mut self,
        at: Timestamp,
        changes: &[Change],
    ) -> Result<Committed, StorageError> {
        let mut tx = self.connection.begin_with("BEGIN IMMEDIATE").await?;
        let mut batch = Batch {
            at,
            heads: BTreeMap::new(),
            events: Vec::new(),
            orphaned: HashSet::new(),
        };
        let mut outcomes = Vec::with_capacity(changes.len());
        for change in changes {
            let orphan = match change {
                Change::Append { run, .. } | Change::End { run, .. } => {
                    self.orphans.contains(&run.message_id) || batch.orphaned.contains(&run.message_id)
                }
                _ => false,
            };
            outcomes.push(if orphan {
                Err(Refusal::NotFound)
            } else {
                batch.add(&mut tx, change).await?
            });
        }
        batch.store(&mut tx).await?;
        tx.commit().await?;
        // Only now: what was rolled back has orphaned nothing.
        self.orphans.extend(batch.orphaned);
        for change in changes {
            if let Change::End { run, .. } = change {
                self.orphans.remove(&run.message_id);
            }
        }
        Ok(Committed {
            outcomes,
            events: batch.events.into_iter().map(Arc::new).collect(),
        })
    }
}

/// What the changes of one transaction have come to so far.
struct Batch {
    at: Timestamp,
    /// The last position of each log that has grown.
    heads: BTreeMap<UserId, Position>,
    events: Vec<LoggedEvent>,
    /// Active runs whose conversation was deleted.
    orphaned: HashSet<MessageId>,
}

impl Batch {
    /// Does one change, or nothing of it.
    async fn add(
        &mut self,
        connection: &mut SqliteConnection,
        change: &Change,
    ) -> Result<Result<Outcome, Refusal>, StorageError> {
        if let Change::Append { run, events } = change {
            // Nothing but the log, which is written at the end: no savepoint needed.
            for event in events {
                self.log(
                    connection,
                    run.user_id,
                    run.conversation_id,
                    Some(run.message_id),
                    event.clone(),
                )
                .await?;
            }
            return Ok(Ok(Outcome::Done));
        }
        let (events, heads) = (self.events.len(), self.heads.clone());
        let mut savepoint = connection.begin().await?;
        match self.apply(&mut savepoint, change).await {
            Ok(outcome) => {
                savepoint.commit().await?;
                Ok(Ok(outcome))
            }
            Err(failure) => {
                savepoint.rollback().await?;
                self.events.truncate(events);
                self.heads = heads;
                match failure {
                    Failure::Refused(refusal) => Ok(Err(refusal)),
                    Failure::Broken(error) => Err(error),
                }
            }
        }
    }

    async fn apply(
        &mut self,
        connection: &mut SqliteConnection,
        change: &Change,
    ) -> Result<Outcome, Failure> {
        match change {
            Change::Send {
                user_id,
                intent,
                start,
            } => {
                let id = intent.intent_id;
                if let Some(started) = known_intent(connection, *user_id, id, &start.fingerprint).await? {
                    return Ok(Outcome::Started { started, again: true });
                }
                let started = self.send(connection, *user_id, intent, start).await?;
                remember(connection, *user_id, id, &start.fingerprint, started, self.at).await?;
                Ok(Outcome::Started {
                    started,
                    again: false,
                })
            }
            Change::Regenerate {
                user_id,
                intent,
                start,
            } => {
                let id = intent.intent_id;
                if let Some(started) = known_intent(connection, *user_id, id, &start.fingerprint).await? {
                    return Ok(Outcome::Started { started, again: true });
                }
                let started = self.regenerate(connection, *user_id, intent, start).await?;
                remember(connection, *user_id, id, &start.fingerprint, started, self.at).await?;
                Ok(Outcome::Started {
                    started,
                    again: false,
                })
            }
            Change::Append { .. } => Ok(Outcome::Done),
            Change::End { run, events, message } => self.end(connection, run, events, message).await,
            Change::Rename {
                user_id,
                conversation_id,
                title,
            } => {
                let event = EventBody::ConversationRenamed { title: title.clone() };
                let sql = "UPDATE conversations SET title = ?3 WHERE user_id = ?1 AND id = ?2";
                self.update(connection, *user_id, *conversation_id, sql, title, event)
                    .await
            }
            Change::ChooseModel {
                user_id,
                conversation_id,
                model,
            } => {
                let event = EventBody::ModelChosen { model: model.clone() };
                let sql = "UPDATE conversations SET model = ?3 WHERE user_id = ?1 AND id = ?2";
                self.update(connection, *user_id, *conversation_id, sql, model, event)
                    .await
            }
            Change::SelectLeaf {
                user_id,
                conversation_id,
                leaf_id,
            } => {
                let event = EventBody::LeafSelected { leaf_id: *leaf_id };
                let sql = "UPDATE conversations SET active_leaf = ?3 WHERE user_id = ?1 AND id = ?2 AND EXISTS \
                           (SELECT 1 FROM messages WHERE id = ?3 AND conversation_id = ?2)";
                self.update(
                    connection,
                    *user_id,
                    *conversation_id,
                    sql,
                    &leaf_id.to_string(),
                    event,
                )
                .await
            }
            Change::Delete {
                user_id,
                conversation_id,
            } => self.delete(connection, *user_id, *conversation_id).await,
        }
    }

    async fn send(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        intent: &SendMessage,
        start: &Start,
    ) -> Result<Started, Failure> {
        let SendMessage {
            conversation_id,
            user_message_id,
            text,
            ..
        } = intent;
        let run = start.run;
        sqlx::query("INSERT INTO users (id, position) VALUES (?, 0) ON CONFLICT DO NOTHING")
            .bind(user_id.to_string())
            .execute(&mut *connection)
            .await?;
        let conversation = sqlx::query("SELECT user_id, active_leaf, model FROM conversations WHERE id = ?")
            .bind(conversation_id.to_string())
            .fetch_optional(&mut *connection)
            .await?;
        let (parent_id, chosen) = match conversation {
            Some(row) if super::id::<UserId>(&row, "user_id")? != user_id => Err(Refusal::NotFound)?,
            Some(row) => (super::optional_id(&row, "active_leaf")?, row.try_get("model")?),
            None => {
                let title = title_from(text);
                sqlx::query(
                    "INSERT INTO conversations (id, user_id, title, created_at, updated_at) VALUES (?, ?, ?, ?, ?)",
                )
                .bind(conversation_id.to_string())
                .bind(user_id.to_string())
                .bind(&title)
                .bind(self.at.0)
                .bind(self.at.0)
                .execute(&mut *connection)
                .await?;
                let created = EventBody::ConversationCreated {
                    title,
                    created_at: self.at,
                };
                self.log(connection, user_id, *conversation_id, None, created)
                    .await?;
                (None, None)
            }
        };
        let saved = EventBody::UserMessageSaved {
            user_message_id: *user_message_id,
            expected_assistant_message_id: run,
            parent_id,
            text: text.clone(),
            created_at: self.at,
        };
        let position = self
            .log(connection, user_id, *conversation_id, Some(run), saved)
            .await?;
        let body = MessageBody::User { text: text.clone() };
        let place = Place {
            user_id,
            conversation_id: *conversation_id,
            parent_id,
            position,
        };
        insert_message(connection, place, *user_message_id, self.at, &body).await?;
        let key = RunKey {
            user_id,
            conversation_id: *conversation_id,
            message_id: run,
        };
        let model = intent
            .model
            .clone()
            .or(chosen)
            .unwrap_or_else(|| start.default_model.clone());
        self.start(connection, key, *user_message_id, &model, position)
            .await?;
        Ok(Started {
            conversation_id: *conversation_id,
            user_message_id: *user_message_id,
            assistant_message_id: run,
        })
    }

    async fn regenerate(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        intent: &Regenerate,
        start: &Start,
    ) -> Result<Started, Failure> {
        let Some((conversation_id, message)) = read::message(connection, user_id, intent.message_id).await?
        else {
            Err(Refusal::NotFound)?
        };
        let (Some(_), Some(parent_id)) = (message.assistant(), message.parent_id) else {
            Err(Refusal::NotFound)?
        };
        if conversation_id != intent.conversation_id {
            Err(Refusal::NotFound)?;
        }
        let chosen: Option<String> =
            sqlx::query_scalar("SELECT model FROM conversations WHERE user_id = ? AND id = ?")
                .bind(user_id.to_string())
                .bind(conversation_id.to_string())
                .fetch_one(&mut *connection)
                .await?;
        let model = intent
            .model
            .clone()
            .or(chosen)
            .unwrap_or_else(|| start.default_model.clone());
        let key = RunKey {
            user_id,
            conversation_id,
            message_id: start.run,
        };
        self.start(connection, key, parent_id, &model, Position(u64::MAX))
            .await?;
        Ok(Started {
            conversation_id,
            user_message_id: parent_id,
            assistant_message_id: start.run,
        })
    }

    /// Starts a run that answers `parent_id`. Its first event is at `first`, or is the start itself.
    async fn start(
        &mut self,
        connection: &mut SqliteConnection,
        run: RunKey,
        parent_id: MessageId,
        model: &str,
        first: Position,
    ) -> Result<(), Failure> {
        let started = EventBody::RunStarted {
            parent_id,
            model: model.to_owned(),
            created_at: self.at,
        };
        let RunKey {
            user_id,
            conversation_id,
            message_id,
        } = run;
        let position = self
            .log(connection, user_id, conversation_id, Some(message_id), started)
            .await?;
        let place = Place {
            user_id,
            conversation_id,
            parent_id: Some(parent_id),
            position,
        };
        let body = MessageBody::Assistant(AssistantMessage::started(model));
        insert_message(connection, place, message_id, self.at, &body).await?;
        sqlx::query(
            "INSERT INTO runs (id, user_id, conversation_id, status, first_position) \
             VALUES (?, ?, ?, 'running', ?)",
        )
        .bind(message_id.to_string())
        .bind(user_id.to_string())
        .bind(conversation_id.to_string())
        .bind(first.min(position).0.cast_signed())
        .execute(&mut *connection)
        .await
        .map_err(|error| taken(error, Refusal::RunActive))?;
        sqlx::query("UPDATE conversations SET active_leaf = ?, model = ?, updated_at = ? WHERE id = ?")
            .bind(message_id.to_string())
            .bind(model)
            .bind(self.at.0)
            .bind(conversation_id.to_string())
            .execute(connection)
            .await?;
        Ok(())
    }

    async fn end(
        &mut self,
        connection: &mut SqliteConnection,
        run: &RunKey,
        events: &[EventBody],
        message: &AssistantMessage,
    ) -> Result<Outcome, Failure> {
        let mut last = Position(0);
        for event in events {
            last = self
                .log(
                    connection,
                    run.user_id,
                    run.conversation_id,
                    Some(run.message_id),
                    event.clone(),
                )
                .await?;
        }
        let ended = sqlx::query(
            "UPDATE runs SET status = ?, last_position = ? \
             WHERE user_id = ? AND id = ? AND status IN ('running', 'waiting')",
        )
        .bind(message.status.as_str())
        .bind(last.0.cast_signed())
        .bind(run.user_id.to_string())
        .bind(run.message_id.to_string())
        .execute(&mut *connection)
        .await?;
        if ended.rows_affected() == 0 {
            Err(Refusal::NotFound)?;
        }
        sqlx::query("UPDATE messages SET body = ? WHERE id = ?")
            .bind(serde_json::to_string(&MessageBody::Assistant(message.clone()))?)
            .bind(run.message_id.to_string())
            .execute(connection)
            .await?;
        Ok(Outcome::Done)
    }

    /// Sets one column of a conversation to `value` and logs the event, if the conversation is the user's.
    async fn update(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        conversation_id: ConversationId,
        sql: &'static str,
        value: &str,
        event: EventBody,
    ) -> Result<Outcome, Failure> {
        let updated = sqlx::query(sql)
            .bind(user_id.to_string())
            .bind(conversation_id.to_string())
            .bind(value)
            .execute(&mut *connection)
            .await?;
        if updated.rows_affected() == 0 {
            Err(Refusal::NotFound)?;
        }
        self.log(connection, user_id, conversation_id, None, event)
            .await?;
        Ok(Outcome::Done)
    }

    async fn delete(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Outcome, Failure> {
        let (user, conversation) = (user_id.to_string(), conversation_id.to_string());
        let active = sqlx::query(
            "SELECT id FROM runs WHERE user_id = ? AND conversation_id = ? AND status IN ('running', 'waiting')",
        )
        .bind(&user)
        .bind(&conversation)
        .fetch_all(&mut *connection)
        .await?;
        let deleted = sqlx::query("DELETE FROM conversations WHERE user_id = ? AND id = ?")
            .bind(&user)
            .bind(&conversation)
            .execute(&mut *connection)
            .await?;
        if deleted.rows_affected() == 0 {
            Err(Refusal::NotFound)?;
        }
        for run in &active {
            self.orphaned.insert(super::id(run, "id")?);
        }
        // The log keeps the positions, and nothing of what was said.
        sqlx::query(
            "UPDATE events SET message_id = NULL, event = json_object('position', position, \
             'conversation_id', conversation_id, 'type', 'empty') WHERE user_id = ? AND conversation_id = ?",
        )
        .bind(&user)
        .bind(&conversation)
        .execute(&mut *connection)
        .await?;
        self.events
            .iter_mut()
            .filter(|logged| logged.event.conversation_id == conversation_id)
            .for_each(blank);
        sqlx::query("DELETE FROM intents WHERE user_id = ? AND started ->> 'conversation_id' = ?")
            .bind(&user)
            .bind(&conversation)
            .execute(&mut *connection)
            .await?;
        self.log(
            connection,
            user_id,
            conversation_id,
            None,
            EventBody::ConversationDeleted,
        )
        .await?;
        Ok(Outcome::Done)
    }

    /// Gives an event the next position of its user's log. It is written with the batch.
    async fn log(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        conversation_id: ConversationId,
        message_id: Option<MessageId>,
        body: EventBody,
    ) -> Result<Position, StorageError> {
        let head = match self.heads.get(&user_id) {
            Some(head) => *head,
            None => read::log_bounds(connection, user_id).await?.head,
        };
        let position = head.next();
        let event = Event {
            position,
            conversation_id,
            message_id,
            body,
        };
        let json = serde_json::to_string(&event)?;
        self.heads.insert(user_id, position);
        self.events.push(LoggedEvent { user_id, event, json });
        Ok(position)
    }

    /// Writes the events and the logs' new ends.
    async fn store(&self, connection: &mut SqliteConnection) -> Result<(), StorageError> {
        for events in self.events.chunks(ROWS_PER_INSERT) {
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
            // Statements of many lengths would push the others out of the cache.
            insert
                .build()
                .persistent(events.len() == ROWS_PER_INSERT || events.len() < 8)
                .execute(&mut *connection)
                .await?;
        }
        for (user_id, head) in &self.heads {
            sqlx::query("UPDATE users SET position = ? WHERE id = ?")
                .bind(head.0.cast_signed())
                .bind(user_id.to_string())
                .execute(&mut *connection)
                .await?;
        }
        Ok(())
    }
}

/// Empties an event that is not yet stored.
fn blank(logged: &mut LoggedEvent) {
    logged.event.message_id = None;
    logged.event.body = EventBody::Empty;
    if let Ok(json) = serde_json::to_string(&logged.event) {
        logged.json = json;
    }
}

/// Where a message belongs.
struct Place {
    user_id: UserId,
    conversation_id: ConversationId,
    parent_id: Option<MessageId>,
    position: Position,
}

async fn insert_message(
    connection: &mut SqliteConnection,
    place: Place,
    id: MessageId,
    at: Timestamp,
    body: &MessageBody,
) -> Result<(), Failure> {
    sqlx::query(
        "INSERT INTO messages (id, user_id, conversation_id, parent_id, position, created_at, body) \
         VALUES (?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(id.to_string())
    .bind(place.user_id.to_string())
    .bind(place.conversation_id.to_string())
    .bind(place.parent_id.map(|id| id.to_string()))
    .bind(place.position.0.cast_signed())
    .bind(at.0)
    .bind(serde_json::to_string(body)?)
    .execute(connection)
    .await
    .map_err(|error| taken(error, Refusal::IntentReused))?;
    Ok(())
}

/// What was started when this intent came before, if it did.
async fn known_intent(
    connection: &mut SqliteConnection,
    user_id: UserId,
    intent: IntentId,
    fingerprint: &str,
) -> Result<Option<Started>, Failure> {
    let row = sqlx::query("SELECT fingerprint, started FROM intents WHERE user_id = ? AND id = ?")
        .bind(user_id.to_string())
        .bind(intent.to_string())
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    if row.try_get::<&str, _>("fingerprint")? != fingerprint {
        Err(Refusal::IntentReused)?;
    }
    Ok(Some(serde_json::from_str(row.try_get("started")?)?))
}

async fn remember(
    connection: &mut SqliteConnection,
    user_id: UserId,
    intent: IntentId,
    fingerprint: &str,
    started: Started,
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

/// A row with this key is there already: the request's fault, not the database's.
fn taken(error: sqlx::Error, refusal: Refusal) -> Failure {
    match &error {
        sqlx::Error::Database(cause) if cause.is_unique_violation() => Failure::Refused(refusal),
        _ => Failure::Broken(error.into()),
    }
}
