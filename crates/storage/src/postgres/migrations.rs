//! The versions of the database's tables: the files of `migrations/postgres`, in the binary.
//!
//! They are applied in one transaction with a lock that ends with it: behind a pooler, the next transaction may be another
//! server connection's.
//!
//! Nodes are replaced by those of the next version one after the other, so both work on the tables for a while. A migration that only adds
//! what older programs need not know says so in a line of its own, `-- Works with: 51`: those that know the tables up to this version
//! go on, and may start again. Any other one waits until no node is at work that would not know its tables.

use std::collections::HashSet;

use rust_embed::RustEmbed;
use sqlx::{Connection, Executor, PgConnection, Row, migrate::Migration};

use super::at_work::oldest_at_work;
use crate::{StorageError, sqlite::migrations::read_migrations};

/// The embedded folder. Development builds read it from disk.
#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/../../migrations/postgres"]
struct MigrationFiles;

/// The lock under which tables change. No other program uses its number by chance.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7237964911245)";

/// The same lock, held by those who need the tables as they are.
pub(super) const SHARED_LOCK: &str = "SELECT pg_advisory_xact_lock_shared(7237964911245)";

/// The beginning of the line in a migration that says which programs work with its tables: those that know this version.
const WORKS_WITH: &str = "-- Works with: ";

/// Returns the oldest version of the tables whose programs work with those of a migration; `None` if none does.
fn works_with(migration: &Migration) -> Option<i64> {
    let mut lines = migration.sql.as_str().lines();
    lines.find_map(|line| line.strip_prefix(WORKS_WITH)?.trim().parse().ok())
}

/// Returns the versions that a database of this version has, in their order.
pub(crate) fn versions() -> Vec<i64> {
    all().iter().map(|migration| migration.version).collect()
}

/// Brings the tables to the newest version. Returns true if there were none.
///
/// # Errors
///
/// If the database was written by a newer version that this one does not work with, if older nodes are at work that would not work with
/// the new tables, or if a migration fails. Nothing is changed then.
pub(super) async fn run(connection: &mut PgConnection) -> Result<bool, StorageError> {
    let migrations = all();
    for _ in 1..LOCK_ATTEMPTS {
        match apply(connection, &migrations).await {
            Err(StorageError::Database(error)) if is_lock_timeout(&error) => {
                tracing::warn!("the tables can't be updated yet: something else uses them");
            }
            applied => return applied,
        }
    }
    apply(connection, &migrations).await
}

/// The number of attempts to lock tables that nodes and others use.
const LOCK_ATTEMPTS: usize = 10;

/// The longest wait for such a lock. Behind a statement that waits for one, those of all nodes wait, too.
const LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout = '2s'";

fn is_lock_timeout(error: &sqlx::Error) -> bool {
    // lock_not_available
    matches!(error, sqlx::Error::Database(error) if error.code().as_deref() == Some("55P03"))
}

/// Returns the migrations of this version.
pub(crate) fn all() -> Vec<Migration> {
    read_migrations::<MigrationFiles>()
}

/// Returns the newest version of the tables that this program knows.
pub(crate) fn newest() -> i64 {
    versions().pop().unwrap_or_default()
}

/// Applies those of these migrations that a database lacks. Returns true if it had none.
pub(crate) async fn apply(
    connection: &mut PgConnection,
    migrations: &[Migration],
) -> Result<bool, StorageError> {
    let mut tx = connection.begin().await?;
    let applied = apply_in(&mut tx, migrations).await;
    match &applied {
        Ok(_) => tx.commit().await?,
        // At once: others wait for the lock. The first error counts.
        Err(_) => tx.rollback().await.unwrap_or_default(),
    }
    applied
}

async fn apply_in(tx: &mut PgConnection, migrations: &[Migration]) -> Result<bool, StorageError> {
    tx.execute(LOCK).await?;
    tx.execute(
        "CREATE TABLE IF NOT EXISTS parlor_migrations (version BIGINT PRIMARY KEY, description TEXT NOT NULL, \
         applied_at TIMESTAMPTZ NOT NULL DEFAULT now(), checksum BYTEA NOT NULL)",
    )
    .await?;
    // Even without an effect, the statement would wait for the end of a dump.
    let has_column = "SELECT EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('parlor_migrations') \
                      AND attname = 'works_with')";
    if !tx.fetch_one(has_column).await?.try_get::<bool, _>(0)? {
        tx.execute("ALTER TABLE parlor_migrations ADD COLUMN works_with BIGINT")
            .await?;
    }
    let applied = sqlx::query("SELECT version, checksum, works_with FROM parlor_migrations ORDER BY version")
        .persistent(false)
        .fetch_all(&mut *tx)
        .await?;
    let newest = migrations.last().map_or(0, |migration| migration.version);
    let mut known = HashSet::new();
    for row in &applied {
        let version: i64 = row.try_get("version")?;
        known.insert(version);
        match migrations.iter().find(|migration| migration.version == version) {
            None => match row.try_get::<Option<i64>, _>("works_with")? {
                Some(oldest) if oldest <= newest => {}
                _ => return Err(StorageError::NewerSchema(version)),
            },
            Some(migration) if row.try_get::<&[u8], _>("checksum")? != &*migration.checksum => {
                return Err(StorageError::OtherSchema(version));
            }
            Some(_) => {}
        }
    }
    let new: Vec<&Migration> = migrations
        .iter()
        .filter(|new| !known.contains(&new.version))
        .collect();
    if !new.is_empty() && !applied.is_empty() {
        require_that_nodes_go_on(tx, &new).await?;
    }
    for migration in new {
        tx.execute(sqlx::raw_sql(migration.sql.clone())).await?;
        sqlx::query("INSERT INTO parlor_migrations (version, description, checksum, works_with) VALUES ($1, $2, $3, $4)")
            .persistent(false)
            .bind(migration.version)
            .bind(&*migration.description)
            .bind(&*migration.checksum)
            .bind(works_with(migration))
            .execute(&mut *tx)
            .await?;
    }
    Ok(applied.is_empty())
}

/// Checks that the nodes at work go on with the tables of these migrations. One that joins waits for the lock, and looks itself.
///
/// # Errors
///
/// If one of them does not know the tables.
async fn require_that_nodes_go_on(tx: &mut PgConnection, new: &[&Migration]) -> Result<(), StorageError> {
    let Some(oldest) = oldest_at_work(tx).await? else {
        return Ok(());
    };
    let goes_on = |new: &&Migration| works_with(new).is_some_and(|version| version <= oldest);
    if !new.iter().all(goes_on) {
        return Err(StorageError::OlderNodesAtWork);
    }
    tx.execute(LOCK_TIMEOUT).await?;
    Ok(())
}
