//! The parts that only SQLite needs: the opening of its file, checkpoints of its write-ahead log, the check for damage, and its schema.

pub(crate) mod checkpoint;
pub(crate) mod damage_check;
pub(crate) mod migrations;
pub(crate) mod open;

#[cfg(test)]
pub(crate) mod tests;

pub use self::open::DATABASE_FILE_NAME;
pub use crate::data_folder::keep_files_marker;

/// A SQLite database in WAL mode.
pub type SqliteStorage = crate::SqlStorage;
