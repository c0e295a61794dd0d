//! The leases of nodes, and what they tell each other. Everything here has connections of its own: a long commit must not end a
//! lease.
//!
//! All statements are plain texts, which a pooler takes outside of transactions. They contain ids and numbers only.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use parking_lot::Mutex;
use sqlx::{
    AssertSqlSafe, Executor, PgPool, Row,
    postgres::{PgConnectOptions, PgListener, PgPoolOptions, PgRow},
};
use tokio::{sync::mpsc, time::timeout};

use super::{PostgresDatabase, in_time::in_time, limits::Limits, migrations};
use crate::{
    RunKey, StorageError,
    jobs::{JobKey, Owner},
    nodes::{AnsweredRun, CommitHint, NodeStorage, SharedChanges},
    sql::{
        SqlStorage,
        writer::{Lease, time_limit, within},
    },
};
use parlor_protocol::{JobId, MessageId, Position, UserId};

/// The channel of notifications.
pub(crate) const CHANNEL: &str = "parlor_commits";

/// The kind, in the table `node_changes`, of changes that may end an access.
pub(crate) const ACCESS: &str = "access";

/// The kind, in the same table, of changes of model servers.
pub(crate) const ENDPOINTS: &str = "endpoints";

/// The present time of the database, in milliseconds since 1970.
pub(super) const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// The longest wait for a connection.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(1);

/// The time without notifications after which their connection is tried.
const SILENCE: Duration = Duration::from_secs(10);

/// This process as a node.
#[derive(Debug)]
pub(crate) struct Nodes {
    pool: PgPool,
    pub(super) limits: Limits,
    lease: Duration,
    has_notifications: bool,
    max_runs: Option<usize>,
    /// The id of the present lease.
    owner: Mutex<Option<Owner>>,
}

impl Nodes {
    /// Returns the node; `None` if there is one process.
    pub fn new(database: &PostgresDatabase, options: &PgConnectOptions) -> Option<Self> {
        let settings = &database.nodes;
        let pool = |connections| {
            PgPoolOptions::new()
                .max_connections(connections)
                // Between two attempts, a pool waits ever longer. A new wait tries at once.
                .acquire_timeout(CONNECTION_TIMEOUT)
                .connect_lazy_with(options.clone())
        };
        settings.enabled.then(|| Self {
            pool: pool(4),
            limits: Limits::new(pool(4), pool(2)),
            lease: settings.lease,
            has_notifications: !database.has_pooler,
            max_runs: database.max_runs,
            owner: Mutex::new(None),
        })
    }

    /// Returns the lease for the writer, which has not begun.
    pub fn new_lease(&self) -> Lease {
        Lease::new(self.lease, self.has_notifications, self.max_runs)
    }

    fn lease_ms(&self) -> u128 {
        self.lease.as_millis()
    }

    pub(super) async fn execute(&self, statement: String) -> Result<u64, StorageError> {
        in_time(&self.pool, self.time_limit(), async |connection| {
            let executed = connection
                .execute(sqlx::raw_sql(AssertSqlSafe(statement)))
                .await?;
            Ok(executed.rows_affected())
        })
        .await
    }

    pub(super) async fn rows(&self, statement: String) -> Result<Vec<PgRow>, StorageError> {
        in_time(&self.pool, self.time_limit(), async |connection| {
            Ok(connection
                .fetch_all(sqlx::raw_sql(AssertSqlSafe(statement)))
                .await?)
        })
        .await
    }

    /// Returns the longest time for a statement: after the length of the lease, its connection is of no use.
    fn time_limit(&self) -> Duration {
        time_limit(self.lease)
    }

    /// Returns the present id as a literal; one that nobody has without a lease.
    pub(super) fn owner(&self) -> String {
        let owner = *self.owner.lock();
        owner.map(|owner| owner.to_string()).unwrap_or_default()
    }
}

/// Returns ids as an array of texts.
pub(super) fn array(ids: impl IntoIterator<Item = impl ToString>) -> String {
    let ids: Vec<String> = ids
        .into_iter()
        .map(|id| format!("'{}'", id.to_string()))
        .collect();
    format!("ARRAY[{}]::text[]", ids.join(","))
}

fn parse<T: std::str::FromStr<Err = uuid::Error>>(row: &PgRow, column: &str) -> Result<T, StorageError> {
    let text: &str = row.try_get(column)?;
    Ok(text.parse()?)
}

#[async_trait]
impl NodeStorage for SqlStorage {
    fn has_nodes(&self) -> bool {
        self.nodes.is_some()
    }

    async fn join(&self) -> Result<(), StorageError> {
        let Some(nodes) = &self.nodes else {
            return Ok(());
        };
        // No commit is in progress while the owner changes.
        let mut writer = self.writer.lock().await;
        let (former, owner) = (nodes.owner(), Owner::of_new_process());
        *nodes.owner.lock() = None;
        let tables = migrations::newest();
        // A later version may have changed the tables while this process had no lease.
        let joining = nodes.rows(format!(
            "{}; DELETE FROM nodes WHERE id = '{former}'; \
             INSERT INTO nodes (id, expires_at, tables) SELECT '{owner}', {NOW} + {}, {tables} WHERE NOT EXISTS \
             (SELECT 1 FROM parlor_migrations WHERE version > {tables} AND coalesce(works_with, version) > {tables}); \
             INSERT INTO node_commits (node, number) SELECT id, 0 FROM nodes WHERE id = '{owner}' RETURNING node",
            migrations::SHARED_LOCK,
            nodes.lease_ms()
        ));
        // A row of which this node does not hear expires unused.
        let rows = joining.await?;
        // The lock returns a row, too.
        if !rows.iter().any(|row| row.try_get::<&str, _>("node").is_ok()) {
            return Err(StorageError::NewerSchema(tables + 1));
        }
        *nodes.owner.lock() = Some(owner);
        writer.begin_lease(owner);
        Ok(())
    }

    async fn renew(&self) -> Result<bool, StorageError> {
        let Some(nodes) = &self.nodes else {
            return Ok(true);
        };
        let extended = nodes
            .execute(format!(
                "UPDATE nodes SET expires_at = {NOW} + {} WHERE id = '{}'",
                nodes.lease_ms(),
                nodes.owner()
            ))
            .await?;
        Ok(extended > 0)
    }

    async fn leave(&self) -> Result<(), StorageError> {
        let Some(nodes) = &self.nodes else {
            return Ok(());
        };
        nodes
            .execute(format!("DELETE FROM nodes WHERE id = '{}'", nodes.owner()))
            .await?;
        nodes.pool.close().await;
        nodes.limits.close().await;
        Ok(())
    }

    async fn end_expired(&self) -> Result<u64, StorageError> {
        let Some(nodes) = &self.nodes else {
            return Ok(0);
        };
        if let Err(error) = nodes.limits.delete_old().await {
            tracing::warn!(%error, "old entries of limits can't be deleted yet");
        }
        // One that commits at this moment is alive: its row is locked, and looked at again later.
        nodes
            .execute(format!(
                "DELETE FROM nodes WHERE id IN (SELECT id FROM nodes WHERE expires_at < {NOW} AND id <> '{}' \
                 FOR UPDATE SKIP LOCKED)",
                nodes.owner()
            ))
            .await
    }

    async fn lost_runs(&self, runs: &[MessageId]) -> Result<Vec<MessageId>, StorageError> {
        let Some(nodes) = self.nodes.as_ref().filter(|_| !runs.is_empty()) else {
            return Ok(Vec::new());
        };
        let owner = nodes.owner();
        let own = nodes
            .rows(format!(
                "SELECT id FROM runs WHERE id = ANY ({}) AND owner = '{owner}'",
                array(runs)
            ))
            .await?;
        if nodes.owner() != owner {
            // An old answer: what this node took under its next id is not in it.
            return Ok(Vec::new());
        }
        let own: Vec<MessageId> = own.iter().map(|row| parse(row, "id")).collect::<Result<_, _>>()?;
        Ok(runs.iter().filter(|run| !own.contains(run)).copied().collect())
    }

    async fn lost_jobs(&self, jobs: &[JobKey]) -> Result<Vec<JobKey>, StorageError> {
        let Some(nodes) = self.nodes.as_ref().filter(|_| !jobs.is_empty()) else {
            return Ok(Vec::new());
        };
        let rows = nodes
            .rows(format!(
                "SELECT id, fence FROM jobs WHERE id = ANY ({}) AND status = 'running'",
                array(jobs.iter().map(|job| job.job_id))
            ))
            .await?;
        let mut own = Vec::new();
        for row in &rows {
            own.push((parse::<JobId>(row, "id")?, row.try_get::<i64, _>("fence")?));
        }
        let is_own = |job: &JobKey| own.contains(&(job.job_id, job.fence.0.cast_signed()));
        Ok(jobs.iter().filter(|job| !is_own(job)).copied().collect())
    }

    async fn answered_runs(&self) -> Result<Vec<AnsweredRun>, StorageError> {
        let Some(nodes) = &self.nodes else {
            return Ok(Vec::new());
        };
        let rows = nodes
            .rows(format!(
                "SELECT user_id, conversation_id, id, answers FROM runs WHERE status IN ('running', 'waiting') \
                 AND answers IS NOT NULL AND (owner = '{}' \
                 OR status = 'waiting' AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = runs.owner))",
                nodes.owner()
            ))
            .await?;
        let mut runs = Vec::new();
        for row in &rows {
            let stored: String = row.try_get("answers")?;
            runs.push(AnsweredRun {
                run: RunKey {
                    user_id: parse(row, "user_id")?,
                    conversation_id: parse(row, "conversation_id")?,
                    message_id: parse(row, "id")?,
                },
                // Unreadable ones are deleted like applied ones: the user is asked again.
                answers: serde_json::from_str(&stored).unwrap_or_default(),
                stored,
            });
        }
        Ok(runs)
    }

    async fn is_own_active_run(&self, run: MessageId) -> Result<bool, StorageError> {
        let Some(nodes) = &self.nodes else {
            return Ok(true);
        };
        let rows = nodes
            .rows(format!(
                "SELECT id FROM runs WHERE id = '{run}' AND status IN ('running', 'waiting') AND owner = '{}'",
                nodes.owner()
            ))
            .await?;
        Ok(!rows.is_empty())
    }

    async fn log_heads(&self, users: &[UserId]) -> Result<Vec<(UserId, Position)>, StorageError> {
        let Some(nodes) = self.nodes.as_ref().filter(|_| !users.is_empty()) else {
            return Ok(Vec::new());
        };
        let rows = nodes
            .rows(format!(
                "SELECT id, position FROM users WHERE id = ANY ({})",
                array(users)
            ))
            .await?;
        let mut heads = Vec::with_capacity(rows.len());
        for row in &rows {
            let position: i64 = row.try_get("position")?;
            heads.push((parse(row, "id")?, Position(position.unsigned_abs())));
        }
        Ok(heads)
    }

    async fn shared_changes(&self) -> Result<SharedChanges, StorageError> {
        let Some(nodes) = &self.nodes else {
            return Ok(SharedChanges::default());
        };
        let rows = nodes.rows("SELECT kind, number FROM node_changes".into()).await?;
        let mut changes = SharedChanges::default();
        for row in &rows {
            let number: i64 = row.try_get("number")?;
            match row.try_get("kind")? {
                ACCESS => changes.access = number,
                ENDPOINTS => changes.endpoints = number,
                // Of a later version.
                _ => {}
            }
        }
        Ok(changes)
    }

    async fn follow_commits(&self, hints: mpsc::Sender<CommitHint>) -> Result<(), StorageError> {
        let Some(nodes) = self.nodes.as_ref().filter(|nodes| nodes.has_notifications) else {
            return Ok(());
        };
        let mut listener = PgListener::connect_with(&nodes.pool).await?;
        listener.eager_reconnect(false);
        listener.listen(CHANNEL).await?;
        // What was committed before is found by this look.
        let mut next = Some(CommitHint::unknown());
        loop {
            if let Some(hint) = next.take()
                && hints.send(hint).await.is_err()
            {
                return Ok(());
            }
            match timeout(SILENCE, listener.try_recv()).await {
                Ok(received) => match received? {
                    Some(notification) => next = CommitHint::read(notification.payload(), &nodes.owner()),
                    // The connection was lost; the caller begins again.
                    None => return Err(StorageError::Database(sqlx::Error::WorkerCrashed)),
                },
                // A side that only listens is not told of a broken network.
                Err(_) => {
                    within(Some(nodes.time_limit()), async {
                        listener.execute(";").await?;
                        Ok(())
                    })
                    .await?;
                }
            }
        }
    }
}

/// A shared handle.
pub(crate) type SharedNodes = Option<Arc<Nodes>>;
