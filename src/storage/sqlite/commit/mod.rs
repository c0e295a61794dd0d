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

use sqlx::{Connection, SqliteConnection};

use self::{
    intents::{known_intent, remember, request},
    log::blank,
};
use super::Writer;
use crate::{
    protocol::{MessageId, Position, Timestamp, UserId},
    storage::{Change, Committed, LoggedEvent, Outcome, Refusal, StorageError},
};

mod approvals;
mod calls;
mod change;
pub(super) mod conversations;
pub(super) mod intents;
mod literature;
mod log;
mod made;
mod memories;
mod offers;
mod opaque;
mod output;
mod parameters;
mod personal;
mod turns;

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
                | Change::KeepOpaque { run, .. }
                | Change::Summarise { run, .. }
                | Change::Record { run, .. }
                | Change::Attach { run, .. }
                | Change::Pause { run, .. }
                | Change::End { run, .. }
                | Change::GiveUp { run, .. } => {
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
            if let Change::End { run, .. } | Change::GiveUp { run, .. } = change {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{calls::RECORD, made::UNSEEN, turns};

    /// The parameters of a statement, by their numbers.
    fn numbers(statement: &str) -> BTreeSet<usize> {
        let parts = statement.split('?').skip(1);
        let number = |part: &str| part.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
        parts.filter_map(number).collect()
    }

    #[test]
    fn no_text_of_several_statements_leaves_out_more_numbers_than_it_has_parameters() {
        for text in [turns::START, turns::GO_ON, RECORD, UNSEEN] {
            let statements: Vec<_> = text.split("; ").map(numbers).collect();
            let highest = |numbers: &BTreeSet<usize>| numbers.last().copied().unwrap_or_default();
            let parameters = statements.iter().map(highest).max().unwrap_or_default();
            let left_out: usize = statements
                .iter()
                .map(|numbers| highest(numbers) - numbers.len())
                .sum();
            assert!(left_out <= parameters, "{left_out} of {parameters}: {text}");
        }
    }
}
