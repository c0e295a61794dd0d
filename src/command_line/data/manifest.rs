//! The contents of a backup: `backup.json` in its folder, which is written last. Without it, a backup is not complete.

use std::{fs, io, path::Path};

use parlor_files::{FileDigest, FileDigests};
use parlor_protocol::Timestamp;
use parlor_storage::transfer::{TableDigests, schema_version};
use serde::{Deserialize, Serialize};

/// The file in the folder of a backup.
const FILE_NAME: &str = "backup.json";

/// The form of a backup. A later one that this version can't read has another number.
const FORMAT: u32 = 1;

/// The contents of a backup.
#[derive(Debug, Serialize, Deserialize)]
pub struct Manifest {
    format: u32,
    /// The version of Parlor that made it.
    pub parlor: String,
    /// The version of the tables: the number of the last migration.
    pub schema: i64,
    /// Milliseconds since 1970 (UTC).
    pub made_at: Timestamp,
    /// The database, a file of SQLite whatever the original was.
    pub database: FileDigest,
    /// Empty if a row was damaged.
    pub tables: TableDigests,
    pub files: FileDigests,
    /// Contents that rows name, and that the original did not have.
    #[serde(default)]
    pub missing: Vec<String>,
}

impl Manifest {
    pub fn new(
        made_at: Timestamp,
        database: FileDigest,
        tables: TableDigests,
        files: FileDigests,
        missing: Vec<String>,
    ) -> Self {
        Self {
            format: FORMAT,
            parlor: env!("CARGO_PKG_VERSION").into(),
            schema: schema_version(),
            made_at,
            database,
            tables,
            files,
            missing,
        }
    }

    /// Reads the manifest of a backup.
    ///
    /// # Errors
    ///
    /// If the folder is no complete backup, or one of a later version.
    pub fn read(folder: &Path) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let shown = folder.display();
        let text = fs::read(folder.join(FILE_NAME)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                format!("{shown} has no {FILE_NAME}: it is no backup, or one that was not completed")
            }
            _ => format!("{shown}/{FILE_NAME}: {error}"),
        })?;
        let damaged = |error| format!("{shown}/{FILE_NAME} is damaged: {error}");
        let Format { format } = serde_json::from_slice(&text).map_err(damaged)?;
        let later = || format!("{shown} was made by a later version of Parlor, which can restore it");
        if format != FORMAT {
            return Err(later());
        }
        let manifest: Self = serde_json::from_slice(&text).map_err(damaged)?;
        match manifest.schema > schema_version() {
            true => Err(later()),
            false => Ok(manifest),
        }
    }

    /// Writes it into the folder of the backup, whose files are complete.
    ///
    /// # Errors
    ///
    /// If it can't be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(self)?;
        let part = folder.join(format!("{FILE_NAME}.part"));
        fs::write(&part, text)?;
        fs::File::open(&part)?.sync_all()?;
        fs::rename(part, folder.join(FILE_NAME))
    }

    /// The bytes of the database and of all files.
    pub fn bytes(&self) -> u64 {
        self.database.bytes + self.files.values().map(|file| file.bytes).sum::<u64>()
    }

    /// Returns the numbers of conversations and messages for people, if they are known.
    pub fn shown_rows(&self) -> String {
        let rows = |table: &str| self.tables.get(table).map(|table| table.rows);
        match (rows("conversations"), rows("messages")) {
            (Some(conversations), Some(messages)) => {
                format!("{conversations} conversations, {messages} messages")
            }
            _ => "the database".into(),
        }
    }
}
