//! The owners of runs: the process that starts or takes a run is its owner, and output of any other one is refused, where there may
//! be another one.

use std::collections::{BTreeSet, HashSet};

use crate::sql::{
    database::{Connection, query},
    optional_text,
};

use super::{super::id, Batch, ChangeError};
use crate::{Change, ChangeRejection, Outcome, RunKey, RunOutput, StorageError, jobs::Owner};
use parlor_protocol::MessageId;

/// Returns the runs whose output is among the changes and that another process has taken. There are none in SQLite, where the lock of
/// the data folder excludes other processes. With nodes, a run without a row is one, too: another node has deleted it.
pub(super) async fn foreign_runs(
    connection: &mut Connection,
    owner: Owner,
    has_nodes: bool,
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
    let select = match has_nodes {
        true => {
            "SELECT id FROM runs WHERE id IN (SELECT value FROM json_each($1)) AND (owner IS NULL OR owner = $2)"
        }
        false => {
            "SELECT id FROM runs WHERE id IN (SELECT value FROM json_each($1)) AND owner IS NOT NULL AND owner <> $2"
        }
    };
    let rows = query(select)
        .bind_list(&runs)
        .bind_value(owner)
        .fetch_all(connection)
        .await?;
    let found: HashSet<MessageId> = rows.iter().map(|row| id(row, "id")).collect::<Result<_, _>>()?;
    Ok(match has_nodes {
        true => runs.into_iter().filter(|run| !found.contains(run)).collect(),
        false => found,
    })
}

/// Returns the run of a change that only its owner may make. The tokens of a call count whoever reports them, and a run that can't be
/// ended otherwise is abandoned by whoever finds it, unless another node works on it.
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
    /// Makes this process the owner of a run that has none: the former one is not at work any more.
    pub(super) async fn recover_run(
        &mut self,
        connection: &mut Connection,
        run: RunKey,
    ) -> Result<Outcome, ChangeError> {
        self.require_abandoned(&mut *connection, run).await?;
        self.take_run(connection, run).await
    }

    /// Rejects a run on which a node works, this one or another.
    pub(super) async fn require_abandoned(
        &self,
        connection: &mut Connection,
        run: RunKey,
    ) -> Result<(), ChangeError> {
        match self.living_owner(connection, run).await? {
            Some(_) => Err(ChangeRejection::FenceLost)?,
            None => Ok(()),
        }
    }

    /// Rejects a run on which another node works.
    pub(super) async fn require_not_foreign(
        &self,
        connection: &mut Connection,
        run: RunKey,
    ) -> Result<(), ChangeError> {
        match self.living_owner(connection, run).await? {
            Some(owner) if owner != self.owner.to_string() => Err(ChangeRejection::FenceLost)?,
            _ => Ok(()),
        }
    }

    /// Returns the owner of a run if it is a node with a lease.
    async fn living_owner(
        &self,
        connection: &mut Connection,
        run: RunKey,
    ) -> Result<Option<String>, StorageError> {
        if !connection.is_postgres() {
            return Ok(None);
        }
        let row = query(
            "SELECT r.owner FROM runs r JOIN nodes n ON n.id = r.owner WHERE r.user_id = $1 AND r.id = $2",
        )
        .bind_value(run.user_id)
        .bind_value(run.message_id)
        .fetch_optional(connection)
        .await?;
        Ok(match row {
            Some(row) => optional_text(&row, "owner")?,
            None => None,
        })
    }

    /// Makes this process the owner of a run.
    pub(super) async fn take_run(
        &mut self,
        connection: &mut Connection,
        run: RunKey,
    ) -> Result<Outcome, ChangeError> {
        query(
            "UPDATE runs SET owner = $3 WHERE user_id = $1 AND id = $2 AND status IN ('running', 'waiting')",
        )
        .bind_value(run.user_id)
        .bind_value(run.message_id)
        .bind_value(self.owner)
        .execute(connection)
        .await?;
        Ok(Outcome::Done)
    }
}
