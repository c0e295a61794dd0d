//! The versions of the database's tables: the files of `migrations/postgres`, in the binary.
//!
//! They are applied in one transaction with a lock that ends with it: behind a pooler, the next transaction may be another
//! server connection's.

use std::collections::HashSet;

use rust_embed::RustEmbed;
use sqlx::{Connection, Executor, PgConnection, Row};

use crate::{StorageError, sqlite::migrations::read_migrations};

/// The embedded folder. Development builds read it from disk.
#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/../../migrations/postgres"]
struct MigrationFiles;

/// The number of the lock, which no other program uses by chance.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7237964911245)";

/// Returns the versions that a database of this version has, in their order.
pub(crate) fn versions() -> Vec<i64> {
    let migrations = read_migrations::<MigrationFiles>();
    migrations.iter().map(|migration| migration.version).collect()
}

/// Brings the tables to the newest version. Returns true if there were none.
///
/// # Errors
///
/// If the database was written by a newer version, or a migration fails. Nothing is changed then.
pub(super) async fn run(connection: &mut PgConnection) -> Result<bool, StorageError> {
    let mut tx = connection.begin().await?;
    tx.execute(LOCK).await?;
    tx.execute(
        "CREATE TABLE IF NOT EXISTS parlor_migrations (version BIGINT PRIMARY KEY, description TEXT NOT NULL, \
         applied_at TIMESTAMPTZ NOT NULL DEFAULT now(), checksum BYTEA NOT NULL)",
    )
    .await?;
    let applied = sqlx::query("SELECT version, checksum FROM parlor_migrations ORDER BY version")
        .persistent(false)
        .fetch_all(&mut *tx)
        .await?;
    let migrations = read_migrations::<MigrationFiles>();
    let mut known = HashSet::new();
    for row in &applied {
        let version: i64 = row.try_get("version")?;
        known.insert(version);
        match migrations.iter().find(|migration| migration.version == version) {
            None => return Err(StorageError::NewerSchema(version)),
            Some(migration) if row.try_get::<&[u8], _>("checksum")? != &*migration.checksum => {
                return Err(StorageError::OtherSchema(version));
            }
            Some(_) => {}
        }
    }
    for migration in migrations.iter().filter(|new| !known.contains(&new.version)) {
        tx.execute(sqlx::raw_sql(migration.sql.clone())).await?;
        sqlx::query("INSERT INTO parlor_migrations (version, description, checksum) VALUES ($1, $2, $3)")
            .persistent(false)
            .bind(migration.version)
            .bind(&*migration.description)
            .bind(&*migration.checksum)
            .execute(&mut *tx)
            .await?;
    }
    tx.commit().await?;
    Ok(applied.is_empty())
}
