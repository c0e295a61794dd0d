//! `parlor backup`: the database and all files in one folder, while Parlor runs.
//!
//! A backup is a data folder: Parlor starts with it. The contents of files are copied before the database, and those that are new or longer
//! after it. A content is complete before its row is committed and deleted after it, so rows of the copied database have theirs.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use parlor_base::{
    clock,
    settings::{FileStore, Overrides, Settings},
};
use parlor_files::{FileDigests, contents_folder, copy_bucket, copy_contents, digest_file, sync_folder};
use parlor_storage::{
    SqlStorage, Storage,
    postgres::PostgresDatabase,
    sqlite::DATABASE_FILE_NAME,
    transfer::{self, Source, TableDigests, TransferError, create_folder},
};

use super::{FILES, end_progress, manifest::Manifest, restore, say, show_progress, shown_bytes};
use crate::command_line::CommandError;

/// The folder in which the database is made: no server starts with a backup that is not complete.
const SCRATCH: &str = "making";

/// Writes a backup into a new folder, and checks it by restoring it into another one if wanted.
pub async fn back_up(overrides: &Overrides, to: &Path, verify: bool) -> Result<(), CommandError> {
    clock::check()?;
    let settings = Settings::read(overrides, |name| std::env::var(name).ok())?;
    let to = &std::path::absolute(to)?;
    create_empty_folder(to)?;
    let made = write(&settings, to).await.map_err(|error| {
        format!(
            "{error}. What was written to {} is no complete backup: delete it. The data are unchanged",
            to.display()
        )
    })?;
    say(&format!(
        "Backed up {} and {} files ({}) to {}",
        made.shown_rows(),
        made.files.len(),
        shown_bytes(made.bytes()),
        to.display()
    ));
    say("The key of stored credentials (secret.key) is not in it: keep a copy of it elsewhere");
    match verify {
        true => restore::verify(to).await,
        false => Ok(()),
    }
}

fn create_empty_folder(folder: &Path) -> Result<(), CommandError> {
    let shown = folder.display();
    match fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            Some(_) => {
                return Err(format!("there is something in {shown} already. Name a new folder").into());
            }
            None => make_private(folder, 0o700)?,
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_folder(folder).map_err(|error| format!("{shown}: {error}"))?;
        }
        Err(error) => return Err(format!("{shown}: {error}").into()),
    }
    Ok(())
}

/// Takes the rights of others away.
#[cfg(unix)]
fn make_private(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
fn make_private(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

async fn write(settings: &Settings, to: &Path) -> Result<Manifest, CommandError> {
    let data = settings.server.data();
    let scratch = to.join(SCRATCH);
    let database = scratch.join(DATABASE_FILE_NAME);
    create_folder(&scratch)?;
    let mut files = FileDigests::new();
    copy_files(settings, to, &mut files).await?;
    let made_at = clock::now();
    match PostgresDatabase::of_settings(settings) {
        None => {
            transfer::copy_sqlite_file(data, &database).await?;
            make_private(&database, 0o600)?;
        }
        Some(_) => {
            let source = Source::open(settings).await?;
            let target = SqlStorage::open(&scratch).await?;
            let copied = transfer::copy_all(&source, &target, &mut show_progress()).await;
            end_progress();
            let closed = target.close().await;
            copied?;
            closed?;
            source.close().await;
        }
    }
    copy_files(settings, to, &mut files).await?;
    let tables = read_digests(&scratch).await?;
    if settings.files.store.is_some() && !missing_contents(&scratch, &files).await?.is_empty() {
        // The setting was changed, and no start has moved them yet.
        copy_contents(&data.join(FILES), to, &mut files)?;
    }
    let missing = missing_contents(&scratch, &files).await?;
    if let Some(first) = missing.first() {
        say(&format!(
            "The contents of {} files are missing where the settings say, such as {first}. The backup lacks them, too",
            missing.len()
        ));
    }
    check_closed(&database)?;
    File::open(&database)?.sync_all()?;
    let place = to.join(DATABASE_FILE_NAME);
    fs::rename(&database, &place)?;
    fs::remove_dir_all(&scratch)?;
    let database = digest_file(&place)?;
    let manifest = Manifest::new(made_at, database, tables, files, missing);
    manifest.write(to)?;
    sync_folder(to)?;
    Ok(manifest)
}

/// Copies the contents that `files` does not have yet. Those in the database are copied with it.
async fn copy_files(settings: &Settings, to: &Path, files: &mut FileDigests) -> Result<(), CommandError> {
    match &settings.files.store {
        None | Some(FileStore::Folder(_)) => copy_contents(&contents_folder(settings), to, files)?,
        Some(FileStore::Database) => {}
        Some(FileStore::Objects(url)) => copy_bucket(url, to, files).await?,
    }
    Ok(())
}

/// Returns the digests of the tables; none if a row is damaged. The backup has it as it is.
async fn read_digests(folder: &Path) -> Result<TableDigests, CommandError> {
    let source = Source::open_folder(folder).await?;
    let digests = source.digests().await;
    source.close().await;
    match digests {
        Err(TransferError::Table { table, error }) => {
            say(&format!(
                "A row of the table {table} is damaged ({error}). The backup has it as it is, and --verify does not compare tables"
            ));
            Ok(TableDigests::new())
        }
        digests => Ok(digests?),
    }
}

/// Returns the contents that rows name and the original lacks, too.
async fn missing_contents(folder: &Path, files: &FileDigests) -> Result<Vec<String>, CommandError> {
    let storage = SqlStorage::open(folder).await?;
    let named = restore::names_outside_database(&storage).await;
    storage.close().await?;
    let missing = named?.into_iter().filter(|name| !files.contains_key(name));
    Ok(missing.collect())
}

/// Fails if data is in a write-ahead log beside the database, whose file alone is kept.
fn check_closed(database: &Path) -> Result<(), CommandError> {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    match fs::metadata(log) {
        Ok(log) if log.len() > 0 => Err("the copied database could not be closed".into()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
