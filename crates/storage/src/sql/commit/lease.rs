//! The lease of a process in its transactions on Postgres: nothing is stored without it, and other nodes are told what was.

use crate::sql::database::{Connection, query};

use super::{Batch, Transaction};
use crate::{
    Change, ConversationChange, PersonalChange, RunChange, StorageError,
    accounts::AccountChange,
    jobs::{JobChange, Owner},
    nodes::CommitHint,
    postgres::{
        commit_end,
        nodes::{ACCESS, CHANNEL, ENDPOINTS},
    },
    shares::ShareChange,
    sql::{database::Connector, writer::Lease},
};

/// Returns true if a process's transaction of this number was committed, whose end is not known. The only process waits for the
/// answer as long as it takes.
///
/// # Errors
///
/// If that can't be found out within the lease of a node: it counts as lost, since changes that are made again could be stored twice.
pub(super) async fn was_committed(
    connector: &Connector,
    lease: Option<&mut Lease>,
    owner: Owner,
    number: i64,
) -> Result<bool, StorageError> {
    let (Connector::Postgres(options, _), Some(lease)) = (connector, lease) else {
        return Ok(false);
    };
    let asked = commit_end::was_committed(options, owner, number, lease.length).await;
    lease.is_lost |= asked.is_err();
    asked
}

impl Batch<'_> {
    /// Begins the transaction, and keeps the lease from being ended during it. Returns the number of the transaction.
    ///
    /// # Errors
    ///
    /// If the lease has ended.
    pub(super) async fn lock_lease(
        &mut self,
        connection: &mut Connection,
        lease: &mut Lease,
        changes: &[Change],
    ) -> Result<i64, StorageError> {
        let transaction = lease.begin(&mut *connection, self.owner).await?;
        self.transaction = Transaction::Begun;
        if !lease.has_nodes() {
            return Ok(transaction);
        }
        let mut hint = CommitHint::default();
        for (kind, has_changed) in [
            (ACCESS, changes.iter().any(may_end_access)),
            (ENDPOINTS, changes.iter().any(changes_endpoints)),
        ] {
            if has_changed {
                hint.has_shared_changes = true;
                query(
                    "INSERT INTO node_changes (kind, number) VALUES ($1, 1) \
                     ON CONFLICT (kind) DO UPDATE SET number = node_changes.number + 1",
                )
                .bind(kind)
                .execute(&mut *connection)
                .await?;
            }
        }
        hint.has_work_changes = changes.iter().any(changes_work);
        // Where nobody listens, the numbers above are found by the poll.
        self.hint = lease.has_notifications.then_some(hint);
        Ok(transaction)
    }

    /// Tells other nodes of this transaction, if it is committed.
    pub(super) async fn notify_nodes(&mut self, connection: &mut Connection) -> Result<(), StorageError> {
        let Some(mut hint) = self.hint.take() else {
            return Ok(());
        };
        hint.positions = self
            .last_positions
            .iter()
            .map(|(user_id, position)| (*user_id, *position))
            .collect();
        if hint == CommitHint::default() {
            return Ok(());
        }
        // A function without a value can't be read.
        query("SELECT 1 AS told FROM (SELECT pg_notify($1, $2)) told")
            .bind(CHANNEL)
            .bind(hint.write(self.owner))
            .fetch_all(connection)
            .await?;
        Ok(())
    }
}

/// The classes of errors after which the server has stored nothing: of data, constraints, the state of the transaction, conflicts, the
/// text of a statement, and limits.
const REFUSALS: [&str; 7] = ["22", "23", "25", "40", "42", "53", "54"];

/// The server itself does not know if it has committed.
const UNKNOWN_END: &str = "40003";

/// Returns true if the server has said that a transaction failed, so that nothing of it is stored. A pooler that has lost the server
/// reports an error, too, as does a server that stops: both may come after the commit.
pub(super) fn is_refusal(error: &StorageError) -> bool {
    match error {
        StorageError::Database(sqlx::Error::Database(error)) => error
            .code()
            .is_some_and(|code| says_that_nothing_is_stored(&code)),
        _ => false,
    }
}

fn says_that_nothing_is_stored(code: &str) -> bool {
    code != UNKNOWN_END && REFUSALS.iter().any(|class| code.starts_with(class))
}

/// Returns true if a change may end an access on any node.
fn may_end_access(change: &Change) -> bool {
    match change {
        Change::Account(change) => ends_access_of_account(change),
        Change::Personal { change, .. } => matches!(change, PersonalChange::RevokeToken { .. }),
        Change::Share(change) => matches!(change, ShareChange::End { .. }),
        Change::Intent { .. }
        | Change::Output { .. }
        | Change::Run(_)
        | Change::Conversation { .. }
        | Change::File(_)
        | Change::Library { .. }
        | Change::Project { .. }
        | Change::Schedule { .. }
        | Change::Column { .. }
        | Change::Job { .. }
        | Change::Endpoint { .. } => false,
    }
}

fn ends_access_of_account(change: &AccountChange) -> bool {
    match change {
        AccountChange::UseSession { .. }
        | AccountChange::Create { .. }
        | AccountChange::CreateProvided { .. }
        | AccountChange::AddLink { .. }
        | AccountChange::DeleteLink { .. }
        | AccountChange::NoteFailure { .. }
        | AccountChange::TrimAuditLog { .. } => false,
        AccountChange::StartSession { replaces, .. } => replaces.is_some(),
        AccountChange::Rename { .. }
        | AccountChange::SetRole { .. }
        | AccountChange::EndSession { .. }
        | AccountChange::EndSessions { .. }
        | AccountChange::SetPassword { .. }
        | AccountChange::SetDisabled { .. }
        | AccountChange::BeginDeletion { .. }
        | AccountChange::Delete { .. } => true,
        AccountChange::By { change, .. } => ends_access_of_account(change),
    }
}

/// Returns true if a change concerns the model servers that nodes have in memory.
fn changes_endpoints(change: &Change) -> bool {
    match change {
        Change::Endpoint { .. } => true,
        // The keys of a user go with the account.
        Change::Account(change) => deletes_account(change),
        Change::Intent { .. }
        | Change::Output { .. }
        | Change::Run(_)
        | Change::Conversation { .. }
        | Change::File(_)
        | Change::Library { .. }
        | Change::Personal { .. }
        | Change::Project { .. }
        | Change::Schedule { .. }
        | Change::Column { .. }
        | Change::Job { .. }
        | Change::Share(_) => false,
    }
}

fn deletes_account(change: &AccountChange) -> bool {
    match change {
        AccountChange::Delete { .. } => true,
        AccountChange::By { change, .. } => deletes_account(change),
        _ => false,
    }
}

/// Returns true if a change may take a run or a job from another node, or leaves it an answer.
fn changes_work(change: &Change) -> bool {
    match change {
        Change::Run(change) => matches!(change, RunChange::TakeOver { .. } | RunChange::LeaveAnswer { .. }),
        Change::Job { change, .. } => matches!(change, JobChange::Stop { .. } | JobChange::Delete { .. }),
        Change::Conversation { change, .. } => matches!(
            change,
            ConversationChange::Delete
                | ConversationChange::Erase { .. }
                | ConversationChange::Expire { .. }
                | ConversationChange::EraseMessage { .. }
        ),
        Change::Account(change) => deletes_account(change),
        Change::Intent { .. }
        | Change::Output { .. }
        | Change::File(_)
        | Change::Library { .. }
        | Change::Personal { .. }
        | Change::Project { .. }
        | Change::Schedule { .. }
        | Change::Column { .. }
        | Change::Share(_)
        | Change::Endpoint { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::says_that_nothing_is_stored;

    #[test]
    fn only_some_errors_say_that_nothing_is_stored() {
        for code in ["23505", "25P03", "40001", "40P01", "53100"] {
            assert!(says_that_nothing_is_stored(code), "{code}");
        }
        // A pooler that has lost the server, a server that is stopped, an unknown end, and no code.
        for code in ["08P01", "57P01", "40003", "XX000", ""] {
            assert!(!says_that_nothing_is_stored(code), "{code}");
        }
    }
}
