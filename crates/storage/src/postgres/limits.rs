//! The limits that nodes share. As those of [`nodes`](super::nodes), all statements are plain texts of ids and numbers, and the clock is
//! the database's.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use parking_lot::Mutex;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, PgPool, Row};

use super::{in_time::in_time, nodes::array};
use crate::{
    StorageError,
    limits::{LimitChange, LimitEntry, LimitKey, LimitStorage},
    sql::SqlStorage,
};

/// The present time of the database, in microseconds since 1970.
const NOW_MICROS: &str = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

/// The time after which an entry is forgotten. Waits are shorter.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The time between two deletions of old entries.
const CLEANUP_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// The longest time until a turn. One that is later was given by a clock that was put back since, and counts for nothing.
const LONGEST_TURN: Duration = Duration::from_secs(120);

/// The time limit of an operation: behind a broken cable, it would end after minutes.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The entries, with connections of their own: however many requests ask for them, a lease is extended in time.
#[derive(Debug)]
pub(crate) struct Limits {
    /// For turns, which each request takes.
    turns: PgPool,
    /// For the changes of entries, so that a flood of requests keeps nobody from signing in.
    changes: PgPool,
    /// The time of the last deletion of old entries.
    cleaned: Mutex<Option<Instant>>,
}

impl Limits {
    pub fn new(turns: PgPool, changes: PgPool) -> Self {
        Self {
            turns,
            changes,
            cleaned: Mutex::new(None),
        }
    }

    pub async fn close(&self) {
        tokio::join!(self.turns.close(), self.changes.close());
    }

    /// Deletes the entries that nobody waits for any more, once an hour.
    pub async fn delete_old(&self) -> Result<(), StorageError> {
        if self
            .cleaned
            .lock()
            .is_some_and(|at| at.elapsed() < CLEANUP_INTERVAL)
        {
            return Ok(());
        }
        let delete = format!(
            "DELETE FROM limits WHERE key IN (SELECT key FROM limits WHERE next_at < {NOW_MICROS} - {} FOR UPDATE SKIP LOCKED)",
            KEPT.as_micros()
        );
        in_time(&self.changes, TIMEOUT, async |connection| {
            connection.execute(sqlx::raw_sql(AssertSqlSafe(delete))).await?;
            Ok(())
        })
        .await?;
        *self.cleaned.lock() = Some(Instant::now());
        Ok(())
    }
}

/// Changes entries in a transaction.
async fn change_entries(
    connection: &mut PgConnection,
    keys: &[LimitKey],
    change: LimitChange<'_>,
) -> Result<(), StorageError> {
    // Two changes take their locks in the same order.
    let mut locks: Vec<i64> = keys.iter().map(|key| key.lock()).collect();
    locks.sort_unstable();
    let locks: Vec<String> = locks
        .iter()
        .map(|lock| format!("pg_advisory_xact_lock({lock})"))
        .collect();
    let mut tx = connection.begin().await?;
    // A node that is paused must not keep others from signing in.
    let lock = format!(
        "SET LOCAL idle_in_transaction_session_timeout = 5000; SELECT {}",
        locks.join(", ")
    );
    tx.execute(sqlx::raw_sql(AssertSqlSafe(lock))).await?;
    let select = format!(
        "SELECT l.count, l.next_at, {NOW_MICROS} AS now FROM unnest({}) WITH ORDINALITY AS k (key, place) \
         LEFT JOIN limits l ON l.key = k.key ORDER BY k.place",
        array(keys)
    );
    let rows = tx.fetch_all(sqlx::raw_sql(AssertSqlSafe(select))).await?;
    let (mut entries, mut now) = (Vec::with_capacity(keys.len()), 0);
    for row in &rows {
        now = row.try_get::<i64, _>("now")?.unsigned_abs();
        let count: Option<i64> = row.try_get("count")?;
        let next_at: Option<i64> = row.try_get("next_at")?;
        entries.push(count.zip(next_at).map(|(count, next_at)| LimitEntry {
            count: u32::try_from(count).unwrap_or(u32::MAX),
            next_at: next_at.unsigned_abs(),
        }));
    }
    let before = entries.clone();
    change(&mut entries, now);
    let mut statements = String::new();
    for ((key, entry), before) in keys.iter().zip(&entries).zip(&before) {
        // Writing to a string can't fail.
        let _ = match entry {
            entry if entry == before => Ok(()),
            Some(LimitEntry { count, next_at }) => write!(
                statements,
                "INSERT INTO limits (key, count, next_at) VALUES ('{key}', {count}, {next_at}) \
                 ON CONFLICT (key) DO UPDATE SET count = excluded.count, next_at = excluded.next_at;"
            ),
            None => write!(statements, "DELETE FROM limits WHERE key = '{key}';"),
        };
    }
    if !statements.is_empty() {
        tx.execute(sqlx::raw_sql(AssertSqlSafe(statements))).await?;
    }
    tx.commit().await?;
    Ok(())
}

#[async_trait]
impl LimitStorage for SqlStorage {
    async fn take_turn(
        &self,
        key: LimitKey,
        interval: Duration,
        ahead: Duration,
    ) -> Result<Option<Duration>, StorageError> {
        let Some(nodes) = &self.nodes else {
            return Ok(None);
        };
        let [interval, ahead, longest] = [interval, ahead, LONGEST_TURN].map(micros);
        let statement = format!(
            "WITH clock AS MATERIALIZED (SELECT {NOW_MICROS} AS now), \
             taken AS (INSERT INTO limits (key, count, next_at) SELECT '{key}', 0, now + {interval} FROM clock \
             ON CONFLICT (key) DO UPDATE SET next_at = {interval} + CASE \
             WHEN limits.next_at <= excluded.next_at - {interval} + {longest} THEN greatest(limits.next_at, excluded.next_at - {interval}) \
             ELSE excluded.next_at - {interval} END \
             WHERE limits.next_at <= excluded.next_at - {interval} + {ahead} \
             OR limits.next_at > excluded.next_at - {interval} + {longest} RETURNING next_at) \
             SELECT EXISTS (SELECT 1 FROM taken) AS is_taken, \
             coalesce((SELECT next_at FROM limits WHERE key = '{key}'), now) - now AS later FROM clock"
        );
        let row = in_time(&nodes.limits.turns, TIMEOUT, async |connection| {
            let select = sqlx::raw_sql(AssertSqlSafe(statement));
            Ok(connection.fetch_one(select).await?)
        })
        .await?;
        if row.try_get("is_taken")? {
            return Ok(None);
        }
        let later = row.try_get::<i64, _>("later")?.saturating_sub(ahead);
        Ok(Some(Duration::from_micros(
            u64::try_from(later).unwrap_or_default(),
        )))
    }

    async fn pause_turns(&self, key: LimitKey, pause: Duration) -> Result<(), StorageError> {
        let Some(nodes) = &self.nodes else {
            return Ok(());
        };
        let pause = micros(pause.min(LONGEST_TURN));
        let statement = format!(
            "INSERT INTO limits (key, count, next_at) VALUES ('{key}', 0, {NOW_MICROS} + {pause}) \
             ON CONFLICT (key) DO UPDATE SET next_at = greatest(limits.next_at, excluded.next_at)"
        );
        in_time(&nodes.limits.turns, TIMEOUT, async |connection| {
            connection
                .execute(sqlx::raw_sql(AssertSqlSafe(statement)))
                .await?;
            Ok(())
        })
        .await
    }

    async fn change_limits(&self, keys: &[LimitKey], change: LimitChange<'_>) -> Result<(), StorageError> {
        let Some(nodes) = self.nodes.as_ref().filter(|_| !keys.is_empty()) else {
            return Ok(());
        };
        in_time(&nodes.limits.changes, TIMEOUT, async |connection| {
            change_entries(connection, keys, change).await
        })
        .await
    }
}

/// Returns a duration in microseconds, as far as the database can add it to a time.
fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX >> 8)
}
