//! Commits several changes in one transaction, with a savepoint for each. All changes are written here.
//!
//! Each query is a round trip to the database thread and blocks the whole batch. Statements that always run
//! together are therefore one text, whose parameters (`$1`) are shared by all of them. sqlx binds parameters of
//! the form `$1` by their number; of `?1` it would count those that a statement skips, and bind others.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use crate::sql::database::{Connection, query};

use self::{
    intents::{intent_request, started_by_intent, store_intent},
    lease::{is_refusal, was_committed},
    log::{EMPTY_EVENTS, erase_event},
    ownership::{foreign_runs, owned_run},
    search::{REBUILD_INDEX, is_damaged_index},
};
use super::{
    WriteConnection,
    database::dialect::{is_caused_by_data, is_conflict},
    writer::{Lease, within},
};
use crate::{
    Change, ChangeRejection, CommitResult, ConversationChange, FileChange, LoggedEvent, Outcome, RunKey,
    RunOutput, StorageError, jobs::Owner, nodes::CommitHint,
};
use parlor_base::crash_point;
use parlor_protocol::{MessageId, Position, Timestamp, UserId};

mod accounts;
mod administrators;
mod approvals;
mod artifacts;
mod audit;
mod branching;
mod columns;
mod continue_run;
pub(crate) mod conversations;
mod deletion;
mod dispatch;
mod endpoints;
mod file_deletion;
mod files;
pub(crate) mod hand_over;
pub(crate) mod intents;
mod jobs;
mod lease;
mod list_place;
mod literature;
mod log;
mod memories;
mod model_calls;
mod ownership;
mod page_context;
mod parameters;
mod personal;
mod project_readers;
mod projects;
mod provided_accounts;
mod provider_data;
mod queue;
mod queue_state;
mod run_output;
mod schedules;
pub(crate) mod search;
mod shares;
mod suggestions;
mod turns;

/// The reason for which a change was not applied.
#[derive(Debug)]
enum ChangeError {
    Rejected(ChangeRejection),
    Storage(StorageError),
}

impl<E: Into<StorageError>> From<E> for ChangeError {
    fn from(error: E) -> Self {
        Self::Storage(error.into())
    }
}

impl From<ChangeRejection> for ChangeError {
    fn from(rejection: ChangeRejection) -> Self {
        Self::Rejected(rejection)
    }
}

impl WriteConnection {
    pub(super) async fn commit(
        &mut self,
        at: Timestamp,
        changes: &[Change],
    ) -> Result<CommitResult, StorageError> {
        let mut connection = Some(self.take_connection().await?);
        let mut committed = self.commit_on(&mut connection, at, changes).await;
        for _ in 0..MAX_CONFLICTS {
            if !matches!(&committed, Err(StorageError::Database(error)) if is_conflict(error)) {
                break;
            }
            // Of another node's transaction.
            if let Some(connection) = connection.take() {
                self.close_connection(connection).await;
            }
            connection = Some(self.connect().await?);
            committed = self.commit_on(&mut connection, at, changes).await;
        }
        if let Err(error) = &committed
            && is_damaged_index(error)
            && let Some(open) = &mut connection
        {
            tracing::error!(%error, "the search index is damaged and is built again");
            query("ROLLBACK").execute(&mut *open).await?;
            query(REBUILD_INDEX).execute(open).await?;
            committed = self.commit_on(&mut connection, at, changes).await;
        }
        if let Some(connection) = connection {
            self.return_connection(committed.is_ok(), connection).await;
        }
        committed
    }

    /// Commits on a connection, which must be closed after an error: its transaction is still open. Takes the connection away if it
    /// broke while the server committed.
    async fn commit_on(
        &mut self,
        open: &mut Option<Connection>,
        at: Timestamp,
        changes: &[Change],
    ) -> Result<CommitResult, StorageError> {
        crash_point!("commit::beginning", if changes.iter().any(Change::is_run_end));
        let limit = self.time_limit();
        let connection = open.as_mut().ok_or(StorageError::Closed)?;
        if connection.is_postgres() {
            // Others may write to the same logs.
            self.last_positions.clear();
        }
        let mut batch = Batch {
            at,
            owner: self.owner,
            known_positions: &self.last_positions,
            last_positions: BTreeMap::new(),
            events: Vec::new(),
            orphaned_runs: HashSet::new(),
            transaction: Transaction::NotBegun,
            has_deleted: false,
            locked_logs: HashSet::new(),
            hint: None,
            max_runs: self.lease.and_then(|lease| lease.max_runs),
        };
        let applying = batch.apply(
            &mut *connection,
            self.lease.as_mut(),
            &self.orphaned_runs,
            changes,
        );
        let (transaction, outcomes) = within(limit, applying).await?;
        if let Err(error) = within(limit, batch.write_events_and_commit(connection)).await {
            // Only the server's own words say that nothing was stored.
            let (Some(transaction), false) = (transaction, is_refusal(&error)) else {
                return Err(error);
            };
            tracing::warn!(%error, "the connection was lost during a commit");
            // A transaction that is still open ends with it.
            if let Some(broken) = open.take() {
                let _ = within(limit, async { Ok(broken.close().await?) }).await;
            }
            if !was_committed(&self.connector, self.lease.as_mut(), self.owner, transaction).await? {
                return Err(error);
            }
        }
        crash_point!("commit::committed", if changes.iter().any(Change::is_run_end));
        let Batch {
            last_positions,
            events,
            orphaned_runs,
            mut has_deleted,
            ..
        } = batch;
        has_deleted |= outcomes
            .iter()
            .any(|outcome| matches!(outcome, Ok(Outcome::Deleted { .. } | Outcome::DataDeleted)));
        if has_deleted || self.last_positions.len() > MAX_KNOWN_POSITIONS {
            // The log of a deleted user has no position any more.
            self.last_positions.clear();
        }
        self.last_positions.extend(last_positions);
        self.commits.send_replace(());
        if has_deleted {
            self.deletion_count.send_modify(|deletions| *deletions += 1);
        }
        // Only after the commit: changes that were rolled back have orphaned no run.
        self.orphaned_runs.extend(orphaned_runs);
        for change in changes {
            if let Change::Output {
                run,
                output: RunOutput::EndRun { .. } | RunOutput::AbandonRun { .. },
            } = change
            {
                self.orphaned_runs.remove(&run.message_id);
            }
        }
        let committed = CommitResult {
            outcomes,
            events: events.into_iter().map(Arc::new).collect(),
        };
        Ok(committed)
    }
}

/// The number of times that changes are made again after a conflict with another node.
const MAX_CONFLICTS: usize = 5;

/// The number of logs whose last position is kept in memory.
const MAX_KNOWN_POSITIONS: usize = 10_000;

/// The state of a batch's transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transaction {
    NotBegun,
    Begun,
    /// The savepoint of the last change is still open. The transaction's end releases it.
    InSavepoint,
}

/// The outcome of each change.
type Outcomes = Vec<Result<Outcome, ChangeRejection>>;

/// The effects of a transaction's changes so far.
struct Batch<'a> {
    at: Timestamp,
    /// This process, which takes runs.
    owner: Owner,
    /// The last positions of other logs, as far as they are known.
    known_positions: &'a BTreeMap<UserId, Position>,
    /// The last position of each log that has grown.
    last_positions: BTreeMap<UserId, Position>,
    events: Vec<LoggedEvent>,
    /// Active runs whose conversation was deleted.
    orphaned_runs: HashSet<MessageId>,
    transaction: Transaction,
    /// True if user data or the row of a file was deleted.
    has_deleted: bool,
    /// The logs whose positions nobody else can give, on Postgres.
    locked_logs: HashSet<UserId>,
    /// The hint for other nodes, without the positions; `None` if there are none.
    hint: Option<CommitHint>,
    /// The maximum number of active runs of a user, with nodes: a single process counts its own.
    max_runs: Option<usize>,
}

impl Batch<'_> {
    /// Begins the transaction and applies the changes. Returns the number of the transaction, on Postgres, and the outcomes.
    async fn apply(
        &mut self,
        connection: &mut Connection,
        lease: Option<&mut Lease>,
        orphaned_runs: &HashSet<MessageId>,
        changes: &[Change],
    ) -> Result<(Option<i64>, Outcomes), StorageError> {
        let has_nodes = lease.as_ref().is_some_and(|lease| lease.has_nodes());
        let transaction = match lease {
            Some(lease) => Some(self.lock_lease(&mut *connection, lease, changes).await?),
            None => None,
        };
        if connection.is_postgres() {
            self.lock_logs(&mut *connection, changes).await?;
        }
        let foreign = foreign_runs(&mut *connection, self.owner, has_nodes, changes).await?;
        let mut outcomes = Vec::with_capacity(changes.len());
        for change in changes {
            let is_deleted = |run: RunKey| {
                orphaned_runs.contains(&run.message_id) || self.orphaned_runs.contains(&run.message_id)
            };
            // The tokens are their user's: they count without the conversation, too.
            let orphan = !matches!(
                change,
                Change::Output {
                    output: RunOutput::CountCutCall { .. },
                    ..
                }
            ) && change.output_of().is_some_and(is_deleted);
            outcomes.push(if orphan {
                Err(ChangeRejection::NotFound)
            } else if owned_run(change).is_some_and(|run| foreign.contains(&run)) {
                Err(ChangeRejection::FenceLost)
            } else {
                self.apply_in_savepoint(connection, change).await?
            });
        }
        crash_point!("commit::changed", if changes.iter().any(Change::is_run_end));
        self.index_changes(connection).await?;
        Ok((transaction, outcomes))
    }

    /// Applies one change, or nothing of it.
    async fn apply_in_savepoint(
        &mut self,
        connection: &mut Connection,
        change: &Change,
    ) -> Result<Result<Outcome, ChangeRejection>, StorageError> {
        if let Change::Output {
            run,
            output: RunOutput::AppendEvents { events },
        } = change
        {
            // The log is written at the end: no savepoint is needed.
            self.append_events(connection, run, events).await?;
            return Ok(Ok(Outcome::Done));
        }
        let (events, heads) = (self.events.len(), self.last_positions.clone());
        let locked_logs = self.locked_logs.clone();
        let savepoint = match std::mem::replace(&mut self.transaction, Transaction::InSavepoint) {
            Transaction::NotBegun => "BEGIN IMMEDIATE; SAVEPOINT change",
            Transaction::Begun => "SAVEPOINT change",
            Transaction::InSavepoint => "RELEASE change; SAVEPOINT change",
        };
        query(savepoint).execute(&mut *connection).await?;
        match self.apply_once(&mut *connection, change).await {
            Ok(outcome) => Ok(Ok(outcome)),
            Err(failure) => {
                let rolled_back = query("ROLLBACK TO change").execute(connection).await;
                let rejection = match failure {
                    ChangeError::Rejected(rejection) => rejection,
                    // Retrying would not help, and the other changes are not affected.
                    ChangeError::Storage(error) if error.is_row_damage() => reject_damaged(&error),
                    ChangeError::Storage(error) if is_caused_by_change(&error) => {
                        tracing::error!(%error, "a change can't be stored and was rejected");
                        ChangeRejection::Internal
                    }
                    // For instance a full disk: it fails the whole transaction with its savepoints.
                    ChangeError::Storage(error) => return Err(error),
                };
                rolled_back?;
                self.events.truncate(events);
                self.last_positions = heads;
                // The end of the savepoint has released the others.
                self.locked_logs = locked_logs;
                Ok(Err(rejection))
            }
        }
    }

    async fn apply_once(
        &mut self,
        connection: &mut Connection,
        change: &Change,
    ) -> Result<Outcome, ChangeError> {
        let request = intent_request(change);
        if let Some(request) = request
            && let Some(started) = started_by_intent(connection, request).await?
        {
            return Ok(match started {
                Some(started) => Outcome::Started { started, again: true },
                None => Outcome::Done,
            });
        }
        let outcome = self.apply_new_change(&mut *connection, change).await?;
        if matches!(outcome, Outcome::Deleted { .. } | Outcome::DataDeleted) {
            // What has tables: messages and files.
            match change {
                Change::Conversation {
                    change: ConversationChange::Trash { .. },
                    ..
                } => {}
                Change::Conversation { user_id, .. }
                | Change::Project { user_id, .. }
                | Change::File(
                    FileChange::DeleteUpload { user_id, .. } | FileChange::DeleteContent { user_id, .. },
                ) => self.delete_lost_columns(&mut *connection, Some(*user_id)).await?,
                Change::File(FileChange::ExpireUploads { .. }) => {
                    self.delete_lost_columns(&mut *connection, None).await?;
                }
                Change::Intent { .. }
                | Change::Output { .. }
                | Change::Run(_)
                | Change::File(_)
                | Change::Library { .. }
                | Change::Personal { .. }
                | Change::Schedule { .. }
                | Change::Column { .. }
                | Change::Job { .. }
                | Change::Share(_)
                | Change::Account(_)
                | Change::Endpoint { .. } => {}
            }
        }
        if let Some(request) = request {
            let started = match outcome {
                Outcome::Started { started, .. } | Outcome::Queued(started) => Some(started),
                _ => None,
            };
            store_intent(connection, request, started, self.at).await?;
        }
        Ok(outcome)
    }
}

/// Returns the rejection of a change that needs a damaged row. The log has one with a name already.
fn reject_damaged(error: &StorageError) -> ChangeRejection {
    let row = error.damaged_row();
    if row.is_none() {
        tracing::error!(%error, "a change needs a damaged row and was rejected");
    }
    ChangeRejection::Damaged(row)
}

/// Returns true if an error was caused by the data of the change, and not by the database.
fn is_caused_by_change(error: &StorageError) -> bool {
    match error {
        StorageError::Database(sqlx::Error::Database(cause)) => is_caused_by_data(&**cause),
        _ => false,
    }
}
