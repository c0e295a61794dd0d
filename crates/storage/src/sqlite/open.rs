//! Opening the database: by one process at a time, in a private folder, with a SQLite version that loses no
//! data.

use std::{path::Path, sync::Arc};

use sqlx::{
    ConnectOptions,
    migrate::MigrateError,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::sync::Mutex;

use super::{checkpoint, migrations::migrator};
use crate::{
    StorageError, StorageErrorKind, data_folder,
    sql::{
        SqlStorage,
        database::{Connector, Readers},
        writer::WriteConnection,
    },
};

/// The first SQLite version without the WAL-reset bug, as SQLite numbers versions.
const MIN_SAFE_SQLITE_VERSION: i32 = 3_051_003;

/// The file name of the database in the data folder.
pub const DATABASE_FILE_NAME: &str = "parlor.db";

/// The longest wait for another program that locks the database, for instance a backup. After it the query
/// fails.
pub(crate) const BUSY_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);

impl SqlStorage {
    /// Opens the database of SQLite in a folder. Creates both if they do not exist.
    ///
    /// # Errors
    ///
    /// If the folder or the file can't be written, or the file is not a database of this version.
    pub async fn open(folder: &Path) -> Result<Self, StorageError> {
        Self::open_locked(folder)
            .await
            .map_err(|error| match (error.kind(), error) {
                (StorageErrorKind::NotWritable, error) => StorageError::NotWritable(Box::new(error)),
                (StorageErrorKind::Damaged, StorageError::Database(sqlx::Error::Database(error))) => {
                    StorageError::Damaged(error)
                }
                (_, error) => error,
            })
    }

    async fn open_locked(folder: &Path) -> Result<Self, StorageError> {
        #[expect(unsafe_code, reason = "sqlx does not offer the version")]
        // SAFETY: the function has no preconditions; it reads a constant of the library.
        let version = unsafe { libsqlite3_sys::sqlite3_libversion_number() };
        if version < MIN_SAFE_SQLITE_VERSION {
            let (major, minor, patch) = (version / 1_000_000, version / 1000 % 1000, version % 1000);
            return Err(StorageError::UnsafeSqliteVersion(format!(
                "{major}.{minor}.{patch}"
            )));
        }
        data_folder::create_folder(folder)?;
        let lock = data_folder::lock_folder(folder, false)?;
        data_folder::make_private(folder);
        let lacks_earlier_data = data_folder::prepare_database_file(folder, &lock)?;
        let file = folder.join(DATABASE_FILE_NAME);
        let is_new = std::fs::metadata(&file).is_ok_and(|file| file.len() == 0);
        let options = SqliteConnectOptions::new()
            .filename(file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // A published commit must survive a power cut. Batching the commits makes that cheap.
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT)
            .pragma("temp_store", "memory")
            // Deleted data is overwritten in the file, not only unlinked.
            .pragma("secure_delete", "on")
            // Parlor runs its own checkpoints: see `checkpoint`.
            .pragma("wal_autocheckpoint", "0")
            // The writer's statements: those of starts and ends and of the index, and those that log events.
            .statement_cache_capacity(200);
        let mut connection = options.connect().await?;
        migrator()
            .run(&mut connection)
            .await
            .map_err(|error| match error {
                MigrateError::VersionMissing(step) => StorageError::NewerSchema(step),
                MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => error.into(),
                error => error.into(),
            })?;
        lock.note_database();
        let checkpoints = options
            .clone()
            .busy_timeout(checkpoint::TRUNCATE_BUSY_TIMEOUT)
            .connect()
            .await?;
        let readers = SqlitePoolOptions::new()
            .min_connections(1)
            .max_connections(4)
            // The connection is to a local file and can't break while idle.
            .test_before_acquire(false)
            .connect_with(options.clone().read_only(true).statement_cache_capacity(100))
            .await?;
        let writer = WriteConnection::new(Connector::Sqlite(options), connection.into(), lock);
        let (committed, deletions) = (writer.commits.subscribe(), writer.deletion_count.subscribe());
        let writer = Arc::new(Mutex::new(writer));
        tokio::spawn(checkpoint::run_checkpoints(
            checkpoints,
            Arc::downgrade(&writer),
            committed,
            deletions,
        ));
        Ok(Self {
            writer,
            readers: Readers::of_sqlite(readers),
            lacks_earlier_data,
            is_new,
            nodes: None,
        })
    }
}
