//! All data of a database, copied into another of either kind: for a move, for backups of Postgres, and for their restoration.
//!
//! Tables are copied in the order of their keys. An interrupted copy goes on where its rows end, if they are the first ones of the
//! source; a table that differs is copied anew. The end is reached only when the digest of each table is the same on both sides.
//! Until then the target is marked, and no server starts on it. This is not the export of a person's conversations.

mod copy;
mod digest;
mod source;
mod tables;

#[cfg(test)]
mod tests;

pub(crate) use self::copy::refuse_incomplete;
pub use self::{
    copy::{CopyProgress, copy_all},
    digest::{TableDigest, TableDigests},
    source::{EmptyFolder, Source, copy_sqlite_file},
};
use crate::StorageError;
pub use crate::data_folder::create_folder;

/// Returns the version of this version's tables: the number of the last migration.
pub fn schema_version() -> i64 {
    crate::sqlite::migrations::versions().pop().unwrap_or_default()
}

/// The reason why data could not be copied. The source is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error("the table {table} can't be copied: {error}")]
    Table { table: String, error: StorageError },
    #[error("it was written by an earlier version. Start Parlor with it once, then try again")]
    EarlierVersion,
    #[error("there is data in it already. Choose an empty database or folder")]
    NotEmpty,
    #[error("it is no database of Parlor ({0})")]
    NotOurs(Box<sqlx::Error>),
    #[error("there is {} already. Stop Parlor and move it away, or choose another folder with --data", .0.display())]
    HasDatabase(std::path::PathBuf),
    #[error("these tables differ from the source after they were copied: {0}. Try again")]
    Differing(String),
    #[error("rows of the table {0} refer to rows that do not exist: the source is damaged")]
    Dangling(String),
}

impl From<sqlx::Error> for TransferError {
    fn from(error: sqlx::Error) -> Self {
        Self::Storage(error.into())
    }
}
