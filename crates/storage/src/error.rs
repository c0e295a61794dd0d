//! Storage errors: their texts for the log and the start, and a classification by what the operator can do.

use sqlx::migrate::MigrateError;

use super::{damage::DamagedRow, sql::database::dialect::classify_postgres_error};

/// SQLite's code for a value that is not of its column's type.
const CONSTRAINT_DATATYPE: &str = "3091";

/// A failure of storage: the disk, the file or the database. Not caused by the request.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    #[error("the database: {0}")]
    Database(#[from] sqlx::Error),
    #[error("the database's schema: {0}")]
    Migration(#[from] MigrateError),
    #[error("the database can't be opened: {0}")]
    Unreachable(Box<sqlx::Error>),
    #[error("another Parlor uses the database: stop it first")]
    DatabaseInUse,
    #[error(
        "other nodes work on this database, or were killed a moment ago: stop them and try again in some seconds, or set nodes.enabled"
    )]
    NodesAtWork,
    #[error(
        "nodes of an older version work on this database, and can't work with the tables of this one. Nothing was changed: stop them all, \
         and start this one again after some seconds"
    )]
    OlderNodesAtWork,
    #[error("PostgreSQL 14 or newer is needed, and the server is {0}")]
    OldPostgres(String),
    #[error(
        "the database has another schema than this version wrote: the migration {0} differs. It was not changed"
    )]
    OtherSchema(i64),
    #[error("another Parlor uses it (stop it, or choose another folder with --data)")]
    InUse,
    #[error("a copy into it was not completed: give the same command again, or use an empty database")]
    IncompleteCopy,
    #[error("another process has taken over the work of this one")]
    LeaseLost,
    #[error(
        "the keys of model servers were encrypted with another secret key: give all nodes the same one (PARLOR_SECRET_KEY, or a data \
         folder that they share)"
    )]
    OtherSecretKey,
    #[error("it is closed: Parlor is stopping")]
    Closed,
    #[error(
        "the file is damaged or not a database ({0}). It was not changed: restore a backup, save its data with \
         `sqlite3 parlor.db .recover`, or move it away to start with an empty one"
    )]
    Damaged(Box<dyn sqlx::error::DatabaseError>),
    #[error(
        "parlor.db is empty, but there is a write-ahead log with data ({0}), which SQLite would delete. Both were not \
         changed: restore a backup of parlor.db, or move both away to start with an empty database"
    )]
    EmptyDatabase(std::path::PathBuf),
    #[error("the end of a run could not be stored, because the database is damaged")]
    RunAbandoned,
    #[error(
        "it was written by a newer Parlor (its schema has the unknown migration {0}). It was not changed: \
         start that version, or choose another folder with --data"
    )]
    NewerSchema(i64),
    #[error(
        "it can't be written ({0}). It was not changed: give Parlor write access to the folder and its files, or \
         choose another one with --data"
    )]
    NotWritable(Box<StorageError>),
    #[error("the data folder: {0}")]
    DataFolder(#[from] std::io::Error),
    #[error("a stored row can't be read: {0}")]
    InvalidJson(#[from] serde_json::Error),
    #[error("a stored id can't be read: {0}")]
    InvalidId(#[from] uuid::Error),
    #[error("a stored row can't be read: {0}")]
    DamagedRow(#[from] DamagedRow),
    #[error(
        "this build contains SQLite {0}, which can lose commits (see https://sqlite.org/wal.html, the \
         “WAL-reset bug”); 3.51.3 is the first version without that bug"
    )]
    UnsafeSqliteVersion(String),
}

/// The kind of a storage failure, by what the operator can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageErrorKind {
    /// The disk is full, or this system user's quota is.
    DiskFull,
    /// The data can't be written.
    NotWritable,
    /// The database, or a row of it, is damaged. Retrying does not help.
    Damaged,
    /// Another cause, which the log names.
    Other,
}

impl StorageError {
    /// Returns true if the error concerns one row and not storage as a whole. The row stays unreadable on
    /// every retry.
    pub fn is_row_damage(&self) -> bool {
        match self {
            Self::InvalidJson(_) | Self::InvalidId(_) | Self::DamagedRow(_) => true,
            Self::Database(sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_)) => true,
            // An update checks the types of all columns, also of those that it does not set.
            Self::Database(sqlx::Error::Database(error)) => {
                error.code().as_deref() == Some(CONSTRAINT_DATATYPE)
            }
            _ => false,
        }
    }

    /// Returns the name of the damaged row, if it is known.
    pub fn damaged_row(&self) -> Option<DamagedRow> {
        match self {
            Self::DamagedRow(row) => Some(*row),
            _ => None,
        }
    }

    /// Returns the kind of failure.
    pub fn kind(&self) -> StorageErrorKind {
        use std::io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        match self {
            Self::NotWritable(_) => StorageErrorKind::NotWritable,
            Self::Damaged(_) | Self::RunAbandoned => StorageErrorKind::Damaged,
            Self::Migration(MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) => {
                classify_sql_error(error)
            }
            Self::DataFolder(error) => match error.kind() {
                StorageFull | QuotaExceeded => StorageErrorKind::DiskFull,
                PermissionDenied | ReadOnlyFilesystem => StorageErrorKind::NotWritable,
                _ => StorageErrorKind::Other,
            },
            // A row does not become readable by reading it again.
            error if error.is_row_damage() => StorageErrorKind::Damaged,
            Self::Database(error) => classify_sql_error(error),
            _ => StorageErrorKind::Other,
        }
    }
}

/// Classifies an error of the database.
fn classify_sql_error(error: &sqlx::Error) -> StorageErrorKind {
    // https://sqlite.org/rescode.html: the lowest byte is the primary code.
    const PERM: i32 = 3;
    const READONLY: i32 = 8;
    const CORRUPT: i32 = 11;
    const FULL: i32 = 13;
    const CONSTRAINT: i32 = 19;
    const NOTADB: i32 = 26;
    let sqlx::Error::Database(error) = error else {
        return StorageErrorKind::Other;
    };
    if let Some(kind) = classify_postgres_error(&**error) {
        return kind;
    }
    let code = error.code().and_then(|code| code.parse::<i32>().ok());
    match code.map(|code| code & 0xff) {
        // A constraint rejects the same row each time.
        Some(CORRUPT | NOTADB | CONSTRAINT) => StorageErrorKind::Damaged,
        Some(FULL) => StorageErrorKind::DiskFull,
        Some(PERM | READONLY) => StorageErrorKind::NotWritable,
        _ => StorageErrorKind::Other,
    }
}
