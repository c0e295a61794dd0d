//! Opening the database: by one process at a time, in a folder that is nobody else's business, with a SQLite that loses nothing.

use std::{
    collections::HashSet,
    fs::{File, TryLockError},
    path::Path,
    sync::Arc,
};

use sqlx::{
    ConnectOptions,
    migrate::MigrateError,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::sync::{Mutex, watch};

use super::{Sqlite, checkpoint, writer::Writer};
use crate::storage::{StorageError, Trouble};

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("migrations/sqlite");

/// The first SQLite without the WAL-reset bug, as SQLite counts versions.
const FIRST_SAFE_VERSION: i32 = 3_051_003;

/// The name of the database in the data folder.
pub const FILE_NAME: &str = "parlor.db";

/// How long to wait for another program that holds the database, a backup for instance, before it counts as trouble.
const BUSY: std::time::Duration = std::time::Duration::from_secs(5);

/// The name of the file in the data folder that is locked while a Parlor uses it.
const LOCK_NAME: &str = "parlor.lock";

impl Sqlite {
    /// Opens the database in a folder, making both if they are not there.
    ///
    /// # Errors
    ///
    /// If the folder or the file can't be written, or the file is not a database of this version.
    pub async fn open(folder: &Path) -> Result<Self, StorageError> {
        Self::open_in(folder)
            .await
            .map_err(|error| match error.trouble() {
                Trouble::NotWritable => StorageError::NotWritable(Box::new(error)),
                _ => error,
            })
    }

    async fn open_in(folder: &Path) -> Result<Self, StorageError> {
        // SAFETY: the function has no preconditions; it reads a constant of the library.
        let version = unsafe { libsqlite3_sys::sqlite3_libversion_number() };
        if version < FIRST_SAFE_VERSION {
            let (major, minor, patch) = (version / 1_000_000, version / 1000 % 1000, version % 1000);
            return Err(StorageError::OldSqlite(format!("{major}.{minor}.{patch}")));
        }
        make_private_folder(folder)?;
        let lock = lock(folder)?;
        let options = SqliteConnectOptions::new()
            .filename(folder.join(FILE_NAME))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // A commit that was published must survive a power cut. Group commit makes that cheap.
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(BUSY)
            .pragma("temp_store", "memory")
            // What is deleted is gone from the file too, not only out of sight.
            .pragma("secure_delete", "on")
            // Ours are in `checkpoint`.
            .pragma("wal_autocheckpoint", "0")
            .statement_cache_capacity(100);
        let mut connection = options.connect().await.map_err(at_start)?;
        MIGRATIONS
            .run(&mut connection)
            .await
            .map_err(|error| match error {
                MigrateError::VersionMissing(step) => StorageError::Newer(step),
                MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => at_start(error),
                error => error.into(),
            })?;
        let checkpoints = options.clone().busy_timeout(checkpoint::BUSY).connect().await?;
        let readers = SqlitePoolOptions::new()
            .min_connections(1)
            .max_connections(4)
            // There is nothing between them and the file that could have broken meanwhile.
            .test_before_acquire(false)
            .connect_with(options.clone().read_only(true))
            .await?;
        let (deletions, committed) = watch::channel(0);
        let writer = Arc::new(Mutex::new(Writer {
            options,
            connection: Some(connection),
            orphans: HashSet::new(),
            deletions,
        }));
        tokio::spawn(checkpoint::run(checkpoints, Arc::downgrade(&writer), committed));
        Ok(Self {
            writer,
            readers,
            _lock: Arc::new(lock),
        })
    }
}

/// What people talk about with a model is nobody else's business on this machine.
fn make_private_folder(folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// What an error means when the database is opened.
fn at_start(error: sqlx::Error) -> StorageError {
    // https://sqlite.org/rescode.html: SQLITE_CORRUPT and SQLITE_NOTADB
    const DAMAGED: [&str; 2] = ["11", "26"];
    match error {
        sqlx::Error::Database(error) if error.code().is_some_and(|code| DAMAGED.contains(&&*code)) => {
            StorageError::Damaged(error)
        }
        error => error.into(),
    }
}

/// Makes sure that no other process uses the folder: two would each take what the other runs for what a crash
/// has left, and number the log's events twice.
fn lock(folder: &Path) -> Result<File, StorageError> {
    let path = folder.join(LOCK_NAME);
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StorageError::InUse),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}
