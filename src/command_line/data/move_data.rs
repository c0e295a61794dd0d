//! `parlor move`: all data of the database that the settings name, copied into a Postgres or into a data folder. The original stays as it is.

use std::{
    fs,
    path::{Path, PathBuf},
};

use parlor_base::settings::{FileStore, NodeSettings, Overrides, Settings};
use parlor_files::{FileDigests, copy_contents, digest_file};
use parlor_storage::{
    SqlStorage, Storage,
    postgres::PostgresDatabase,
    transfer::{self, Source, TableDigests, TransferError},
};

use super::{CopiedFolder, FILES, end_progress, say, show_progress};
use crate::command_line::CommandError;

/// The variable with the target, which keeps a password out of the list of processes.
const TARGET_VARIABLE: &str = "PARLOR_MOVE_TO";

/// The target of a move.
enum Target {
    Postgres(PostgresDatabase),
    Folder(PathBuf),
}

/// The copied data.
struct Moved {
    tables: TableDigests,
    /// Without those that stay where they are.
    files: FileDigests,
}

/// Copies all data, compares it, and says what to set.
pub async fn move_data(overrides: &Overrides, to: Option<String>) -> Result<(), CommandError> {
    let settings = Settings::read(overrides, |name| std::env::var(name).ok())?;
    let to = to.or_else(|| std::env::var(TARGET_VARIABLE).ok());
    let to = to.ok_or_else(|| {
        format!("name the target: --to postgres://… or --to FOLDER, or in {TARGET_VARIABLE}")
    })?;
    let is_postgres = to.starts_with("postgres://") || to.starts_with("postgresql://");
    let from_postgres = PostgresDatabase::of_settings(&settings).is_some();
    let target = match (is_postgres, from_postgres) {
        (true, false) => Target::Postgres(PostgresDatabase {
            url: to,
            has_pooler: settings.database.pooler,
            readers: 1,
            nodes: NodeSettings::default(),
            max_runs: None,
        }),
        (false, true) => Target::Folder(std::path::absolute(to)?),
        (true, true) => {
            return Err("the data is in Postgres already: use pg_dump to copy it into another one".into());
        }
        (false, false) => {
            return Err(
                "the data is in SQLite already: `parlor backup` copies it into another folder".into(),
            );
        }
    };
    let data = settings.server.data();
    let Moved { tables, files } = copy(&settings, &target, data).await.map_err(|error| {
        format!("{error}. The original is unchanged; after the reason is gone, give the same command again and it goes on")
    })?;
    say(&format!(
        "Moved {} tables with {} rows. Each was compared. The original is unchanged",
        tables.len(),
        tables.values().map(|table| table.rows).sum::<u64>()
    ));
    if !files.is_empty() {
        say(&format!(
            "Copied {} files with {} bytes. Each was compared",
            files.len(),
            files.values().map(|file| file.bytes).sum::<u64>()
        ));
    }
    say(&match target {
        Target::Postgres(_) => format!(
            "Now set `url` in the section [database] of the settings to that address (or PARLOR_DATABASE), and start Parlor. The files stay where they are{}",
            match settings.files.store {
                None => format!(", in {}", data.display()),
                Some(_) => String::new(),
            }
        ),
        Target::Folder(folder) => format!(
            "Now remove `url` from the section [database] of the settings (and PARLOR_DATABASE){}, and start Parlor with --data {}",
            match settings.files.store {
                Some(FileStore::Database) => ", and `store` from [files] (and PARLOR_FILES)",
                _ => "",
            },
            folder.display()
        ),
    });
    Ok(())
}

async fn copy(settings: &Settings, target: &Target, data: &Path) -> Result<Moved, CommandError> {
    let mut files = FileDigests::new();
    // The target locks its folder, which is that of a server on SQLite, too.
    let tables = match target {
        Target::Postgres(database) => {
            let folder = CopiedFolder::new(data);
            let target = SqlStorage::open_postgres(data, database).await?;
            let copied = copy_tables(Source::open(settings).await, &target).await;
            folder.settle()?;
            copied?
        }
        Target::Folder(to) => {
            let source = Source::open_alone(settings, to != data).await;
            let target = SqlStorage::open(to).await?;
            if to != data {
                // Others stay where they are, or are copied with the tables.
                copy_contents(&data.join(FILES), to, &mut files)?;
                compare(&files, to)?;
                copy_key(data, to)?;
            }
            copy_tables(source, &target).await?
        }
    };
    Ok(Moved { tables, files })
}

/// Reads the copies of files again.
fn compare(files: &FileDigests, to: &Path) -> Result<(), CommandError> {
    for (name, digest) in files {
        if digest_file(&to.join(name))? != *digest {
            return Err(format!("the copy of {name} is not what was read").into());
        }
    }
    Ok(())
}

async fn copy_tables(
    source: Result<Source, TransferError>,
    target: &SqlStorage,
) -> Result<TableDigests, CommandError> {
    let copied = match source {
        Ok(source) => {
            let copied = transfer::copy_all(&source, target, &mut show_progress()).await;
            end_progress();
            source.close().await;
            copied
        }
        Err(error) => Err(error),
    };
    let closed = target.close().await;
    let tables = copied?;
    closed?;
    Ok(tables)
}

/// Copies the key of stored credentials.
fn copy_key(from: &Path, to: &Path) -> std::io::Result<()> {
    const KEY: &str = "secret.key";
    if from.join(KEY).exists() && !to.join(KEY).exists() {
        // Its mode is copied, too.
        fs::copy(from.join(KEY), to.join(KEY))?;
    }
    Ok(())
}
