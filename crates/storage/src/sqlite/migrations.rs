//! The versions of the database's tables: the files of `migrations/sqlite`, in the binary.
//!
//! `sqlx::migrate!` would do the same, but its crate compiles SQLite and two drivers a second time, for the
//! compiler: minutes of a first build.

use rust_embed::RustEmbed;
use sqlx::{
    AssertSqlSafe, SqlSafeStr,
    migrate::{Migration, MigrationType, Migrator},
};

/// The embedded folder. Development builds read it from disk.
#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/../../migrations/sqlite"]
struct MigrationFiles;

/// Returns all migrations, which are applied in the order of their numbers.
pub fn migrator() -> Migrator {
    Migrator::with_migrations(read_migrations::<MigrationFiles>())
}

/// Returns the versions that a database of this version has, in their order.
pub(crate) fn versions() -> Vec<i64> {
    let migrations = read_migrations::<MigrationFiles>();
    migrations.iter().map(|migration| migration.version).collect()
}

/// Reads the migrations of an embedded folder, in the order of their numbers.
pub(crate) fn read_migrations<Files: RustEmbed>() -> Vec<Migration> {
    let read = |name: &str| {
        // A file named `0001_start.sql`.
        let (version, description) = name.strip_suffix(".sql")?.split_once('_')?;
        let sql = String::from_utf8(Files::get(name)?.data.into_owned()).ok()?;
        Some(Migration::new(
            version.parse().ok()?,
            description.replace('_', " ").into(),
            MigrationType::Simple,
            AssertSqlSafe(sql).into_sql_str(),
            false,
        ))
    };
    let mut migrations: Vec<Migration> = Files::iter().filter_map(|name| read(&name)).collect();
    migrations.sort_by_key(|migration| migration.version);
    migrations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_a_migration() {
        let migrator = migrator();
        assert_eq!(migrator.iter().count(), MigrationFiles::iter().count());
        let first = migrator.iter().next().expect("there are migrations");
        assert_eq!((first.version, &*first.description), (1, "start"));
        // As databases of earlier releases have it: a stored checksum is compared at each start.
        let checksum: String = first.checksum.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(checksum, CHECKSUM);
    }

    const CHECKSUM: &str = "923e6502440dc524ff19b152c11d359eae9ed5132c0b45a0\
        ec443a86ca17a5209d1ccd9658f1c78cd6a9b6dacd82aa88";
}
