//! `parlor restore`: a backup becomes the data of a new folder or of an empty Postgres, and `--verify`, which tries that in a scratch
//! folder. Every file is compared with its digest in the backup.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use parlor_base::settings::{Overrides, Settings};
use parlor_files::{FileDigest, FileDigests, copy_contents, copy_file};
use parlor_storage::{
    SqlStorage, Storage,
    postgres::PostgresDatabase,
    sqlite::DATABASE_FILE_NAME,
    transfer::{self, Source, TableDigests},
};
use tokio_util::sync::CancellationToken;

use super::{CopiedFolder, end_progress, manifest::Manifest, say, show_progress, shown_bytes};
use crate::command_line::CommandError;

/// Restores a backup as the settings say, or only tries it.
pub async fn restore(overrides: &Overrides, from: &Path, only_verify: bool) -> Result<(), CommandError> {
    let from = &std::path::absolute(from)?;
    if only_verify {
        return verify(from).await;
    }
    let settings = Settings::read(overrides, |name| std::env::var(name).ok())?;
    let manifest = Manifest::read(from)?;
    let data = settings.server.data();
    match PostgresDatabase::of_settings(&settings) {
        None => restore_folder(from, &manifest, data)?,
        Some(_) => restore_postgres(from, &manifest, &settings).await?,
    }
    say(&format!(
        "Restored {} conversations, {} messages and {} files ({}) of Parlor {}. Start Parlor now",
        manifest.rows("conversations"),
        manifest.rows("messages"),
        manifest.files.len(),
        shown_bytes(manifest.bytes()),
        manifest.parlor
    ));
    Ok(())
}

/// Restores a backup into a scratch folder beside it, compares all of it with what the backup says, and removes the folder.
pub async fn verify(from: &Path) -> Result<(), CommandError> {
    let manifest = Manifest::read(from)?;
    let mut scratch = from.as_os_str().to_owned();
    scratch.push(".verify");
    let scratch = PathBuf::from(scratch);
    if scratch.exists() {
        fs::remove_dir_all(&scratch)?;
    }
    let compared = compare(from, &manifest, &scratch).await;
    if scratch.exists() {
        fs::remove_dir_all(&scratch)?;
    }
    compared?;
    say(&format!(
        "Verified: {} tables with {} rows and {} files can be restored from {}",
        manifest.tables.len(),
        manifest.tables.values().map(|table| table.rows).sum::<u64>(),
        manifest.files.len(),
        from.display()
    ));
    Ok(())
}

async fn compare(from: &Path, manifest: &Manifest, scratch: &Path) -> Result<(), CommandError> {
    restore_folder(from, manifest, scratch)?;
    if manifest.schema == transfer::schema_version() {
        let source = Source::open_folder(scratch).await?;
        let tables = source.digests().await?;
        source.close().await;
        check_tables(&manifest.tables, &tables)?;
    }
    // As a start does, which brings earlier tables to this version.
    let storage = SqlStorage::open(scratch).await?;
    let damage = storage.find_damage(CancellationToken::new()).await?;
    let locations = storage.file_locations().await?;
    storage.close().await?;
    if let Some(first) = damage.first() {
        return Err(format!("the database of the backup is damaged: {first}").into());
    }
    let lacking = locations.iter().filter(|location| {
        let path = format!(
            "files/{}/{}/{}",
            location.user_id, location.conversation_id, location.stored_name
        );
        !manifest.files.contains_key(&path)
    });
    match lacking.count() {
        0 => Ok(()),
        count => Err(format!("the backup lacks the contents of {count} files").into()),
    }
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

/// Restores a backup into a folder without data. The database comes last: an attempt that was interrupted goes on.
fn restore_folder(from: &Path, manifest: &Manifest, to: &Path) -> Result<(), CommandError> {
    let database = to.join(DATABASE_FILE_NAME);
    if database.exists() {
        return Err(format!(
            "there is data in {} already. Stop Parlor and move that folder away, or choose another one with --data",
            to.display()
        )
        .into());
    }
    restore_files(from, manifest, to)?;
    let copied = copy_file(&from.join(DATABASE_FILE_NAME), &database)?;
    if copied != manifest.database {
        fs::remove_file(&database)?;
        return Err(damaged(DATABASE_FILE_NAME));
    }
    Ok(())
}

fn restore_files(from: &Path, manifest: &Manifest, to: &Path) -> Result<(), CommandError> {
    let mut found = FileDigests::new();
    copy_contents(from, to, &mut found)?;
    for (name, wanted) in &manifest.files {
        let digest: Option<&FileDigest> = found.get(name);
        if digest != Some(wanted) {
            return Err(damaged(name));
        }
    }
    Ok(())
}

fn damaged(name: &str) -> CommandError {
    format!("{name} of the backup is damaged or missing. Nothing was started with it: try another backup")
        .into()
}

async fn restore_postgres(from: &Path, manifest: &Manifest, settings: &Settings) -> Result<(), CommandError> {
    let data = settings.server.data();
    // A backup of an earlier version gets the tables of this one, and the backup itself stays as it is.
    let scratch = data.join("restoring");
    if scratch.exists() {
        fs::remove_dir_all(&scratch)?;
    }
    let database = scratch.join(DATABASE_FILE_NAME);
    let copied = copy_file(&from.join(DATABASE_FILE_NAME), &database)?;
    if copied != manifest.database {
        return Err(damaged(DATABASE_FILE_NAME));
    }
    let folder = CopiedFolder::new(data);
    restore_files(from, manifest, data)?;
    SqlStorage::open(&scratch).await?.close().await?;
    let source = Source::open_folder(&scratch).await?;
    let target = SqlStorage::open_for_copy(settings).await?;
    let restored = transfer::copy_all(&source, &target, &mut show_progress()).await;
    end_progress();
    target.close().await?;
    source.close().await;
    restored?;
    folder.settle()?;
    remove(&scratch)?;
    Ok(())
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
