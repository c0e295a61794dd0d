//! `parlor restore`: a backup becomes the data of a new folder or of an empty Postgres, and `--verify`, which tries that in a scratch
//! folder. Every file is compared with its digest in the backup.

use std::{
    collections::HashSet,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process,
};

use parlor_base::settings::{FileStore, Overrides, Settings};
use parlor_files::{FileDigests, content_names, copy_contents, copy_file};
use parlor_storage::{
    FileLocation, SqlStorage, Storage, StorageError,
    contents::{ContentStorage, ORIGINAL},
    postgres::PostgresDatabase,
    sqlite::DATABASE_FILE_NAME,
    transfer::{self, EmptyFolder, Source, TableDigests},
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{FILES, end_progress, manifest::Manifest, say, show_progress, shown_bytes};
use crate::command_line::CommandError;

/// Restores a backup as the settings say, or only tries it.
pub async fn restore(overrides: &Overrides, from: &Path, only_verify: bool) -> Result<(), CommandError> {
    let from = &std::path::absolute(from)?;
    if only_verify {
        return verify(from).await;
    }
    let settings = Settings::read(overrides, |name| std::env::var(name).ok())?;
    let manifest = Manifest::read(from)?;
    match PostgresDatabase::of_settings(&settings) {
        None => restore_folder(from, &manifest, settings.server.data())?,
        Some(_) => restore_postgres(from, &manifest, &settings).await?,
    }
    say(&format!(
        "Restored {} and {} files ({}) of Parlor {}. Start Parlor now",
        manifest.shown_rows(),
        manifest.files.len(),
        shown_bytes(manifest.bytes()),
        manifest.parlor
    ));
    if let Some(FileStore::Folder(folder)) = &settings.files.store {
        say(&format!(
            "Before that, move what is in {} to {}, where the settings want the files",
            settings.server.data().join(FILES).display(),
            folder.display()
        ));
    }
    Ok(())
}

/// Restores a backup into a scratch folder beside it, compares all of it with what the backup says, and removes the folder.
pub async fn verify(from: &Path) -> Result<(), CommandError> {
    let manifest = Manifest::read(from)?;
    let scratch = scratch_beside(from)?;
    if scratch.exists() {
        return Err(format!("there is {} already: delete it", scratch.display()).into());
    }
    let compared = compare(from, &manifest, &scratch).await;
    if scratch.exists() {
        fs::remove_dir_all(&scratch)?;
    }
    compared?;
    let tables = match manifest.tables.len() {
        0 => "the database".to_owned(),
        count => format!(
            "{count} tables with {} rows",
            manifest.tables.values().map(|table| table.rows).sum::<u64>()
        ),
    };
    say(&format!(
        "Verified: {tables} and {} files can be restored from {}",
        manifest.files.len(),
        from.display()
    ));
    Ok(())
}

/// Returns a name for a folder beside another one.
fn scratch_beside(folder: &Path) -> Result<PathBuf, CommandError> {
    // Without a slash at the end, as shells complete names of folders.
    let folder: PathBuf = folder.components().collect();
    let name = folder
        .file_name()
        .ok_or_else(|| format!("{} is no folder for a backup", folder.display()))?;
    let mut scratch = OsString::from(name);
    scratch.push(format!(".verify-{}", process::id()));
    Ok(folder.with_file_name(scratch))
}

async fn compare(from: &Path, manifest: &Manifest, scratch: &Path) -> Result<(), CommandError> {
    restore_folder(from, manifest, scratch)?;
    if manifest.schema == transfer::schema_version() {
        let source = Source::open_folder(scratch).await?;
        let tables = match manifest.tables.is_empty() {
            true => Ok(TableDigests::new()),
            false => source.digests().await,
        };
        source.close().await;
        check_tables(&manifest.tables, &tables?)?;
    }
    // As a start does, which brings earlier tables to this version.
    let storage = SqlStorage::open(scratch).await?;
    let damage = storage.find_damage(CancellationToken::new()).await;
    let names = names_outside_database(&storage).await;
    storage.close().await?;
    if let Some(first) = damage?.first() {
        return Err(format!("the database of the backup is damaged: {first}").into());
    }
    let is_lacking = |name: &&String| !manifest.files.contains_key(*name) && !manifest.missing.contains(name);
    match names?.iter().find(is_lacking) {
        None => Ok(()),
        Some(name) => Err(format!("the backup lacks the content {name}").into()),
    }
}

/// Returns the paths below the data folder of all contents that rows name and the database does not have itself.
pub async fn names_outside_database(storage: &SqlStorage) -> Result<Vec<String>, StorageError> {
    let inside = storage.contents().await?;
    let originals = inside.iter().filter(|content| content.form == ORIGINAL);
    let inside: HashSet<Uuid> = originals.map(|content| content.location.stored_name).collect();
    let named = storage.file_locations().await?;
    let outside = named
        .iter()
        .filter(|location| !inside.contains(&location.stored_name));
    Ok(outside.map(content_name).collect())
}

/// Returns the path of a content below the data folder.
fn content_name(location: &FileLocation) -> String {
    format!(
        "files/{}/{}/{}",
        location.user_id, location.conversation_id, location.stored_name
    )
}

fn check_tables(wanted: &TableDigests, found: &TableDigests) -> Result<(), CommandError> {
    let differing: Vec<&str> = wanted
        .iter()
        .filter(|(name, digest)| found.get(*name) != Some(digest))
        .map(|(name, _)| &**name)
        .collect();
    match differing.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "these tables are not as they were backed up: {}",
            differing.join(", ")
        )
        .into()),
    }
}

/// Restores a backup into a folder without data, which no server can use meanwhile. The database comes last: an attempt that was
/// interrupted goes on.
fn restore_folder(from: &Path, manifest: &Manifest, to: &Path) -> Result<(), CommandError> {
    let _lock = EmptyFolder::lock(to)?;
    restore_files(from, manifest, to)?;
    let part = to.join("restoring.db");
    let copied = copy_file(&from.join(DATABASE_FILE_NAME), &part)?;
    if copied != manifest.database {
        fs::remove_file(&part)?;
        return Err(damaged(DATABASE_FILE_NAME));
    }
    // Unlike a rename, it replaces nothing.
    fs::hard_link(&part, to.join(DATABASE_FILE_NAME))
        .or_else(|_| fs::rename(&part, to.join(DATABASE_FILE_NAME)))?;
    if part.exists() {
        fs::remove_file(&part)?;
    }
    Ok(parlor_files::sync_folder(to)?)
}

/// Copies the contents of a backup into a data folder, which must not have others: they would be deleted at the next start.
fn restore_files(from: &Path, manifest: &Manifest, to: &Path) -> Result<(), CommandError> {
    let is_other = |name: &String| !manifest.files.contains_key(name);
    if let Some(other) = content_names(&to.join(FILES))?.iter().find(|name| is_other(name)) {
        return Err(format!(
            "there are files of other data in {}, such as {other}. Move that folder away, or choose another one with --data",
            to.display()
        )
        .into());
    }
    let mut found = FileDigests::new();
    copy_contents(&from.join(FILES), to, &mut found)?;
    match manifest
        .files
        .iter()
        .find(|(name, wanted)| found.get(*name) != Some(wanted))
    {
        Some((name, _)) => Err(damaged(name)),
        None => Ok(()),
    }
}

fn damaged(name: &str) -> CommandError {
    format!("{name} of the backup is damaged or missing. Nothing was started with it: try another backup")
        .into()
}

/// Restores a backup into the Postgres of the settings.
async fn restore_postgres(from: &Path, manifest: &Manifest, settings: &Settings) -> Result<(), CommandError> {
    let data = settings.server.data();
    // It locks the data folder, too.
    let target = SqlStorage::open_for_copy(settings).await?;
    let scratch = data.join("restoring");
    let restored = restore_into(&target, from, manifest, data, &scratch).await;
    let closed = target.close().await;
    if scratch.exists() {
        fs::remove_dir_all(&scratch)?;
    }
    restored?;
    Ok(closed?)
}

async fn restore_into(
    target: &SqlStorage,
    from: &Path,
    manifest: &Manifest,
    data: &Path,
    scratch: &Path,
) -> Result<(), CommandError> {
    if scratch.exists() {
        fs::remove_dir_all(scratch)?;
    }
    restore_files(from, manifest, data)?;
    // A backup of an earlier version gets the tables of this one, and the backup itself stays as it is.
    let copied = copy_file(&from.join(DATABASE_FILE_NAME), &scratch.join(DATABASE_FILE_NAME))?;
    if copied != manifest.database {
        return Err(damaged(DATABASE_FILE_NAME));
    }
    SqlStorage::open(scratch).await?.close().await?;
    let source = Source::open_folder(scratch).await?;
    let copied = transfer::copy_all(&source, target, &mut show_progress()).await;
    end_progress();
    source.close().await;
    copied?;
    Ok(())
}
