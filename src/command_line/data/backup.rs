//! `parlor backup`: the database and all files in one folder, while Parlor runs.
//!
//! A backup is a data folder: Parlor starts with it. The contents of files are copied before the database and after it. They never
//! change, and their rows are deleted before them, so each row of the copied database has its content.

use std::{fs, io, path::Path};

use parlor_base::{
    clock,
    settings::{Overrides, Settings},
};
use parlor_files::{FileDigests, copy_contents, digest_file};
use parlor_storage::{
    SqlStorage, Storage,
    postgres::PostgresDatabase,
    sqlite::DATABASE_FILE_NAME,
    transfer::{self, Source},
};

use super::{CopiedFolder, end_progress, manifest::Manifest, restore, say, show_progress, shown_bytes};
use crate::command_line::CommandError;

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
        "Backed up {} conversations, {} messages and {} files ({}) to {}",
        made.rows("conversations"),
        made.rows("messages"),
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
            None => {}
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut builder = fs::DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder
                .create(folder)
                .map_err(|error| format!("{shown}: {error}"))?;
        }
        Err(error) => return Err(format!("{shown}: {error}").into()),
    }
    Ok(())
}

async fn write(settings: &Settings, to: &Path) -> Result<Manifest, CommandError> {
    let data = settings.server.data();
    let mut files = FileDigests::new();
    copy_contents(data, to, &mut files)?;
    let made_at = clock::now();
    match PostgresDatabase::of_settings(settings) {
        None => transfer::copy_sqlite_file(data, &to.join(DATABASE_FILE_NAME)).await?,
        Some(_) => {
            let source = Source::open(settings).await?;
            let folder = CopiedFolder::new(to);
            let target = SqlStorage::open(to).await?;
            let copied = transfer::copy_all(&source, &target, &mut show_progress()).await;
            end_progress();
            target.close().await?;
            copied?;
            folder.settle()?;
        }
    }
    copy_contents(data, to, &mut files)?;
    let source = Source::open_folder(to).await?;
    let tables = source.digests().await?;
    source.close().await;
    remove_side_files(to)?;
    make_private(&to.join(DATABASE_FILE_NAME))?;
    let database = digest_file(&to.join(DATABASE_FILE_NAME))?;
    let manifest = Manifest::new(made_at, transfer::schema_version(), database, tables, files);
    manifest.write(to)?;
    Ok(manifest)
}

/// Takes the rights of others away, as a data folder's database has them.
#[cfg(unix)]
fn make_private(file: &Path) -> io::Result<()> {
    fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o600))
}

#[cfg(not(unix))]
fn make_private(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Removes what opening the database left beside it, so that the file alone is the database.
fn remove_side_files(folder: &Path) -> io::Result<()> {
    for name in ["parlor.db-wal", "parlor.db-shm", "parlor.lock"] {
        match fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
