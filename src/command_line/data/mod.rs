//! The commands that copy all data: a backup, its restoration, and a move to another database.
//!
//! - [`manifest`]: what a backup contains, with digests
//! - [`backup`] and [`restore`](mod@restore): into a folder and back
//! - [`move_data`](mod@move_data): from SQLite to Postgres and back

mod backup;
mod manifest;
mod move_data;
mod restore;

use std::{
    fs,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

use parlor_storage::{sqlite::keep_files_marker, transfer::CopyProgress};

pub use self::{backup::back_up, move_data::move_data, restore::restore};

/// The folder of contents in a data folder and in a backup.
const FILES: &str = "files";

/// The rows of a table after which progress is shown again.
const SHOWN_ROWS: u64 = 10_000;

/// A data folder whose database is moved. Contents that lie beside a new database are kept at each start, since they could be another
/// one's. These are the moved rows' own, so nothing has to be kept.
struct CopiedFolder {
    folder: PathBuf,
    kept_before: bool,
}

impl CopiedFolder {
    fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            kept_before: keep_files_marker(folder).is_some(),
        }
    }

    fn settle(self) -> io::Result<()> {
        match keep_files_marker(&self.folder) {
            Some(marker) if !self.kept_before && marker.exists() => fs::remove_file(marker),
            _ => Ok(()),
        }
    }
}

/// Prints a line for the person.
fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// Prints each table as it is copied, in one line of a terminal.
fn show_progress() -> impl FnMut(CopyProgress<'_>) + Send {
    let is_terminal = io::stdout().is_terminal();
    let mut shown = 0;
    move |progress| {
        let is_further = progress.rows < shown || progress.rows >= shown + SHOWN_ROWS;
        if is_terminal && is_further {
            shown = progress.rows;
            let _ = write!(io::stdout(), "\r\x1b[K{}: {} rows", progress.table, progress.rows);
            let _ = io::stdout().flush();
        }
    }
}

/// Ends the line of [`show_progress`].
fn end_progress() {
    if io::stdout().is_terminal() {
        let _ = write!(io::stdout(), "\r\x1b[K");
    }
}

/// Returns a number of bytes for people.
#[expect(clippy::cast_precision_loss, reason = "it is rounded")]
fn shown_bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} bytes");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}
