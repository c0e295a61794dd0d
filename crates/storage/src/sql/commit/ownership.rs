//! The owners of runs: the process that starts or takes a run is its owner, and output of any other one is refused, where there may
//! be another one.

use std::collections::{BTreeSet, HashSet};

use crate::sql::database::{Connection, query};

use super::{super::id, Batch, ChangeError};
use crate::{Change, Outcome, RunKey, RunOutput, StorageError, jobs::Owner};
use parlor_protocol::MessageId;

/// Returns the runs whose output is among the changes and that another process has taken. There are none in SQLite, where the lock of
/// the data folder excludes other processes.
pub(super) async fn foreign_runs(
    connection: &mut Connection,
    owner: Owner,
    changes: &[Change],
) -> Result<HashSet<MessageId>, StorageError> {
    if !connection.is_postgres() {
        return Ok(HashSet::new());
    }
    let runs: BTreeSet<MessageId> = changes.iter().filter_map(owned_run).collect();
    if runs.is_empty() {
        return Ok(HashSet::new());
    }
    // A run of an earlier version has no owner.
    let rows =
        query("SELECT id FROM runs WHERE id IN (SELECT value FROM json_each($1)) AND owner IS NOT NULL AND owner <> $2")
            .bind_list(&runs)
            .bind(owner.to_string())
            .fetch_all(connection)
            .await?;
    let foreign = rows.iter().map(|row| id(row, "id"));
    foreign.collect()
}

/// Returns the run of a change that only its owner may make. The tokens of a call count whoever reports them, and a run that can't be
/// ended otherwise is abandoned by whoever finds it.
pub(super) fn owned_run(change: &Change) -> Option<MessageId> {
    match change {
        Change::Output {
            output: RunOutput::CountCutCall { .. } | RunOutput::AbandonRun { .. },
            ..
        } => None,
        change => change.output_of().map(|run| run.message_id),
    }
}

impl Batch<'_> {
    /// Makes this process the owner of a run.
    pub(super) async fn take_run(
        &mut self,
        connection: &mut Connection,
        run: RunKey,
    ) -> Result<Outcome, ChangeError> {
        query("UPDATE runs SET owner = $3 WHERE user_id = $1 AND id = $2")
            .bind_value(run.user_id)
            .bind_value(run.message_id)
            .bind(self.owner.to_string())
            .execute(connection)
            .await?;
        Ok(Outcome::Done)
    }
}
