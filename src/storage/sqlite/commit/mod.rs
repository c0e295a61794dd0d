//! The one place that writes: several changes in one transaction, a savepoint for each.
//!
//! Each query is a way to the database's thread and back, on which everybody waits who is in the transaction. So what is always
//! done together is one text of several statements, whose parameters (`?1`) count for all of them. The numbers below its highest that a
//! statement leaves out are counted by sqlx as parameters as well, one after the other through the text: there may be no more of them
//! than there are parameters, or what comes after them is silently not bound. So what most statements want has the lowest numbers.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use sqlx::{Connection, QueryBuilder, Sqlite, SqliteConnection};

use self::{
    intents::{known_intent, remember, request},
    literature::keep_summary,
};
use super::{Writer, read};
use crate::{
    protocol::{ConversationId, Event, EventBody, MessageId, Position, Timestamp, UserId},
    storage::{Change, Committed, LoggedEvent, Outcome, Refusal, StorageError},
};

mod approvals;
mod calls;
pub(super) mod conversations;
pub(super) mod intents;
mod literature;
mod made;
mod memories;
mod offers;
mod output;
mod parameters;
mod personal;
mod turns;

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
        let mut connection = self.connection().await?;
        let committed = self.commit_with(&mut connection, at, changes).await;
        self.keep_if(committed.is_ok(), connection).await;
        committed
    }

    async fn commit_with(
        &mut self,
        connection: &mut SqliteConnection,
        at: Timestamp,
        changes: &[Change],
    ) -> Result<Committed, StorageError> {
        crash_point!("commit::beginning", if changes.iter().any(Change::is_end));
        let mut tx = connection.begin_with("BEGIN IMMEDIATE").await?;
        crash_point!("commit::begun", if changes.iter().any(Change::is_end));
        let mut batch = Batch {
            at,
            heads: BTreeMap::new(),
            events: Vec::new(),
            orphaned: HashSet::new(),
            is_saved: false,
        };
        let mut outcomes = Vec::with_capacity(changes.len());
        for change in changes {
            let orphan = match change {
                Change::Append { run, .. }
                | Change::Store { run, .. }
                | Change::Keep { run, .. }
                | Change::Summarise { run, .. }
                | Change::Record { run, .. }
                | Change::Attach { run, .. }
                | Change::Pause { run, .. }
                | Change::End { run, .. } => {
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
        crash_point!("commit::changed", if changes.iter().any(Change::is_end));
        batch.store(&mut tx).await?;
        crash_point!("commit::stored", if changes.iter().any(Change::is_end));
        tx.commit().await?;
        crash_point!("commit::committed", if changes.iter().any(Change::is_end));
        let deleted = outcomes
            .iter()
            .filter(|outcome| matches!(outcome, Ok(Outcome::Deleted { .. } | Outcome::Forgotten)))
            .count();
        self.deletions
            .send_modify(|deletions| *deletions += deleted as u64);
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
    /// A savepoint is open: that of the change before.
    is_saved: bool,
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
            self.append(connection, run, events).await?;
            return Ok(Ok(Outcome::Done));
        }
        let (events, heads) = (self.events.len(), self.heads.clone());
        // The last one is released with the transaction.
        let savepoint = match std::mem::replace(&mut self.is_saved, true) {
            true => "RELEASE change; SAVEPOINT change",
            false => "SAVEPOINT change",
        };
        sqlx::query(savepoint).execute(&mut *connection).await?;
        match self.apply(&mut *connection, change).await {
            Ok(outcome) => Ok(Ok(outcome)),
            Err(failure) => {
                let rolled_back = sqlx::query("ROLLBACK TO change").execute(connection).await;
                let refusal = match failure {
                    Failure::Refused(refusal) => refusal,
                    // Trying again would not help, and the others need not suffer from it.
                    Failure::Broken(error) if is_the_changes_own(&error) => {
                        tracing::error!(%error, "a change that can't be stored was left out");
                        Refusal::Fault
                    }
                    // A full disk, say, takes the whole transaction and its savepoints with it.
                    Failure::Broken(error) => return Err(error),
                };
                rolled_back?;
                self.events.truncate(events);
                self.heads = heads;
                Ok(Err(refusal))
            }
        }
    }

    async fn apply(
        &mut self,
        connection: &mut SqliteConnection,
        change: &Change,
    ) -> Result<Outcome, Failure> {
        let request = request(change);
        if let Some(request) = request
            && let Some(started) = known_intent(connection, request).await?
        {
            return Ok(match started {
                Some(started) => Outcome::Started { started, again: true },
                None => Outcome::Done,
            });
        }
        let outcome = self.do_new(connection, change).await?;
        if let Some(request) = request {
            let started = match outcome {
                Outcome::Started { started, .. } => Some(started),
                _ => None,
            };
            remember(connection, request, started, self.at).await?;
        }
        Ok(outcome)
    }

    /// Does a change that was not done before.
    async fn do_new(
        &mut self,
        connection: &mut SqliteConnection,
        change: &Change,
    ) -> Result<Outcome, Failure> {
        match change {
            Change::Send {
                user_id,
                intent,
                start,
            } => Ok(Outcome::Started {
                started: self.send(connection, *user_id, intent, start).await?,
                again: false,
            }),
            Change::Regenerate {
                user_id,
                intent,
                start,
            } => Ok(Outcome::Started {
                started: self.regenerate(connection, *user_id, intent, start).await?,
                again: false,
            }),
            Change::Continue { user_id, intent, .. } => Ok(Outcome::Started {
                started: self.go_on(connection, *user_id, intent).await?,
                again: false,
            }),
            Change::Append { .. } => Ok(Outcome::Done),
            Change::Store { run, message } => self.store_output(connection, run, message).await,
            Change::Keep { run, payload } => self.keep(connection, run, payload).await,
            Change::Record { run, call, keep_runs } => self.record(connection, run, call, *keep_runs).await,
            Change::Attach { run, attachment } => self.attach(connection, run, attachment).await,
            Change::Pause { run, events, message } => self.pause(connection, run, events, message).await,
            Change::Answer { user_id, approval } => self.answer(connection, *user_id, *approval).await,
            Change::Judge { user_id, intent, .. } => self.judge(connection, *user_id, intent).await,
            Change::TakeAction { user_id, intent, .. } => {
                self.take_action(connection, *user_id, intent).await
            }
            Change::AllowTool {
                user_id,
                conversation_id,
                tool,
            } => {
                self.allow_tool(connection, *user_id, *conversation_id, tool)
                    .await
            }
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
            Change::SetParameters {
                user_id,
                intent,
                parameters,
                ..
            } => {
                self.set_parameters(connection, *user_id, intent.conversation_id, parameters)
                    .await
            }
            Change::Summarise { run, summary } => self.summarise(connection, run, summary).await,
            Change::SelectBranch {
                user_id,
                conversation_id,
                through,
            } => {
                self.select_branch(connection, *user_id, *conversation_id, *through)
                    .await
            }
            Change::MarkRead {
                user_id,
                conversation_id,
            } => self.mark_read(connection, *user_id, *conversation_id).await,
            Change::Delete {
                user_id,
                conversation_id,
            } => self.delete(connection, *user_id, *conversation_id).await,
            Change::Remember {
                user_id,
                memory,
                limit,
            } => self.remember_text(connection, *user_id, memory, *limit).await,
            Change::Forget { user_id, memory_id } => {
                self.forget(connection, *user_id, Some(*memory_id)).await
            }
            Change::SaveArticle {
                user_id,
                article,
                summary,
                limit,
            } => {
                let summary = summary.as_deref();
                self.save_article(connection, *user_id, article, summary, *limit)
                    .await
            }
            Change::KeepSummary {
                user_id,
                pmid,
                summary,
            } => keep_summary(connection, *user_id, pmid, summary).await,
            Change::NoteArticle { user_id, pmid, note } => {
                self.note_article(connection, *user_id, pmid, note).await
            }
            Change::RemoveArticle { user_id, pmid } => self.remove_article(connection, *user_id, pmid).await,
            Change::KeepStream {
                user_id,
                stream,
                limit,
            } => self.keep_stream(connection, *user_id, stream, *limit).await,
            Change::DeleteStream { user_id, stream_id } => {
                self.delete_stream(connection, *user_id, *stream_id).await
            }
            Change::ForgetAll { user_id } => self.forget(connection, *user_id, None).await,
            Change::SetInstructions { user_id, text } => {
                self.set_instructions(connection, *user_id, text).await
            }
            Change::AddToken {
                user_id,
                token,
                hash,
                limit,
            } => self.add_token(connection, *user_id, token, hash, *limit).await,
            Change::RevokeToken { user_id, token_id } => {
                self.revoke_token(connection, *user_id, *token_id).await
            }
            Change::UseToken { user_id, token_id } => self.use_token(connection, *user_id, *token_id).await,
        }
    }

    /// The last position of a user's log, with what this transaction has added.
    async fn head(
        &self,
        connection: &mut SqliteConnection,
        user_id: UserId,
    ) -> Result<Position, StorageError> {
        Ok(match self.heads.get(&user_id) {
            Some(head) => *head,
            None => read::head(connection, user_id).await?,
        })
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
        let position = self.head(connection, user_id).await?.next();
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
        crash_point!(
            "commit::logged",
            if self.events.iter().any(|logged| logged.event.body.terminal_status().is_some())
        );
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

/// Whether an error came from what was to be stored, and not from the place where it was to be stored.
fn is_the_changes_own(error: &StorageError) -> bool {
    match error {
        StorageError::Unreadable(_) | StorageError::UnreadableId(_) => true,
        StorageError::Database(sqlx::Error::Database(cause)) => {
            !matches!(cause.kind(), sqlx::error::ErrorKind::Other)
        }
        _ => false,
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
