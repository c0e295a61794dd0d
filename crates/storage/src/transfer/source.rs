//! A database that is only read: nothing of it changes, not even the version of its tables.

use std::path::Path;

use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection as _,
    postgres::PgPoolOptions,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};

use super::{TableDigests, TransferError, copy, tables};
use crate::{
    StorageError,
    data_folder::{self, DataFolderLock},
    postgres::{
        PostgresDatabase, at_work::wait_for_no_lease, migrations as of_postgres, process_lock::ProcessLock,
        unreachable,
    },
    sql::database::{Reader, Readers, query},
    sqlite::{DATABASE_FILE_NAME, migrations as of_sqlite, open::BUSY_TIMEOUT},
};
use parlor_base::settings::Settings;

/// The versions that a database of SQLite has, and one of Postgres.
const VERSIONS_OF_SQLITE: &str = "SELECT version FROM _sqlx_migrations ORDER BY version";
const VERSIONS_OF_POSTGRES: &str = "SELECT version FROM parlor_migrations ORDER BY version";

/// A database that is read.
#[derive(Debug)]
pub struct Source {
    readers: Readers,
    /// Locked as long as this is open.
    folder: Option<DataFolderLock>,
    process_lock: Option<ProcessLock>,
}

impl Source {
    /// Opens the database of the settings, which a server may use meanwhile.
    ///
    /// # Errors
    ///
    /// If there is none, or it can't be read.
    pub async fn open(settings: &Settings) -> Result<Self, TransferError> {
        match PostgresDatabase::of_settings(settings) {
            Some(database) => Self::open_postgres(&database).await,
            None => Self::open_folder(settings.server.data()).await,
        }
    }

    /// Opens the Postgres of the settings, which no server may use until this is closed. The data folder is locked, too, unless the
    /// caller has locked it.
    ///
    /// # Errors
    ///
    /// If it can't be read, or if a server uses it.
    pub async fn open_alone(settings: &Settings, locks_folder: bool) -> Result<Self, TransferError> {
        let Some(database) = PostgresDatabase::of_settings(settings) else {
            return Self::open_folder(settings.server.data()).await;
        };
        let folder = match locks_folder {
            true => Some(data_folder::lock_folder(settings.server.data(), false)?),
            false => None,
        };
        let options = database.options()?;
        // A pooler gives the lock's connection to others.
        let process_lock = match database.has_pooler {
            true => None,
            false => Some(ProcessLock::take(&options, false).await?),
        };
        let mut connection = options.connect().await.map_err(unreachable)?;
        wait_for_no_lease(&mut connection).await?;
        // It ends with the process in any case.
        let _ = connection.close().await;
        let mut source = Self::open_postgres(&database).await?;
        source.folder = folder;
        source.process_lock = process_lock;
        Ok(source)
    }

    /// Closes it, and releases what it has locked.
    pub async fn close(mut self) {
        self.readers.close().await;
        if let Some(lock) = self.process_lock.take() {
            // It ends with the process in any case.
            let _ = lock.release().await;
        }
    }

    /// Opens the database of SQLite in a folder.
    ///
    /// # Errors
    ///
    /// If there is none, or it can't be read.
    pub async fn open_folder(folder: &Path) -> Result<Self, TransferError> {
        check_folder(folder)?;
        let readers = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(reading_options(folder))
            .await?;
        let source = Self {
            readers: Readers::of_sqlite(readers),
            folder: None,
            process_lock: None,
        };
        source.check_version().await?;
        Ok(source)
    }

    pub(super) async fn open_postgres(database: &PostgresDatabase) -> Result<Self, TransferError> {
        let readers = PgPoolOptions::new()
            .max_connections(1)
            .connect_with(database.options()?)
            .await
            .map_err(unreachable)?;
        let source = Self {
            readers: Readers::of_postgres(readers, database.preparation()),
            folder: None,
            process_lock: None,
        };
        source.check_version().await?;
        Ok(source)
    }

    /// Begins a transaction in which all is read in one state.
    pub(super) async fn begin(&self) -> Result<Reader, StorageError> {
        self.readers.begin().await
    }

    /// Fails if the tables are not those of this version, or a copy into them was not completed.
    async fn check_version(&self) -> Result<(), TransferError> {
        let mut connection = self.readers.acquire().await?;
        let (versions, known) = match connection.is_postgres() {
            true => (VERSIONS_OF_POSTGRES, of_postgres::versions()),
            false => (VERSIONS_OF_SQLITE, of_sqlite::versions()),
        };
        let rows = query(versions).fetch_all(&mut connection).await;
        let rows = rows.map_err(|error| TransferError::NotOurs(Box::new(error)))?;
        let found = rows.iter().map(|row| row.try_get::<i64>("version"));
        let found = found.collect::<Result<Vec<_>, _>>()?;
        if let Some(unknown) = found.iter().find(|version| !known.contains(version)) {
            return Err(StorageError::NewerSchema(*unknown).into());
        }
        if found != known {
            return Err(TransferError::EarlierVersion);
        }
        Ok(copy::refuse_incomplete(&mut connection).await?)
    }

    /// Returns the digests of all tables in one state.
    ///
    /// # Errors
    ///
    /// If a row can't be read.
    pub async fn digests(&self) -> Result<TableDigests, TransferError> {
        let mut connection = self.begin().await?;
        let tables = tables::tables().await?;
        copy::digests(&mut connection, &tables).await
    }
}

/// Writes a copy of the database of SQLite in a folder into a file, in one state, while a server may use it. The copy has nothing
/// that was deleted.
///
/// # Errors
///
/// If there is no database, it is damaged, or the file can't be written.
pub async fn copy_sqlite_file(folder: &Path, file: &Path) -> Result<(), TransferError> {
    check_folder(folder)?;
    let mut connection = reading_options(folder).connect().await?;
    let copied = sqlx::query(AssertSqlSafe("VACUUM INTO $1"))
        .bind(file.to_string_lossy().into_owned())
        .execute(&mut connection)
        .await;
    let closed = connection.close().await;
    copied?;
    Ok(closed?)
}

fn reading_options(folder: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(folder.join(DATABASE_FILE_NAME))
        .read_only(true)
        .busy_timeout(BUSY_TIMEOUT)
}

/// A folder without a database, which no server can use meanwhile.
#[derive(Debug)]
pub struct EmptyFolder {
    _lock: DataFolderLock,
}

impl EmptyFolder {
    /// Creates the folder if it does not exist, and locks it.
    ///
    /// # Errors
    ///
    /// If a server uses it, or it has a database or what is left of one: SQLite would take an old write-ahead log for the new file's.
    pub fn lock(folder: &Path) -> Result<Self, TransferError> {
        data_folder::create_folder(folder)?;
        let lock = data_folder::lock_folder(folder, false)?;
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let file = folder.join([DATABASE_FILE_NAME, suffix].concat());
            if file.try_exists()? {
                return Err(TransferError::HasDatabase(file));
            }
        }
        Ok(Self { _lock: lock })
    }
}

/// Fails if a folder has no data. SQLite would tell of a file that it can't open.
fn check_folder(folder: &Path) -> Result<(), StorageError> {
    let file = folder.join(DATABASE_FILE_NAME);
    match file.metadata() {
        Ok(found) if found.len() > 0 => Ok(()),
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Err(std::io::Error::other(format!("there is no data in {}", folder.display())).into()),
    }
}

impl From<std::io::Error> for TransferError {
    fn from(error: std::io::Error) -> Self {
        Self::Storage(error.into())
    }
}
