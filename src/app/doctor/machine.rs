//! The machine: the data folder, its file system, the clock, the key of stored secrets.

use std::{fs, path::Path};

use parlor_base::{
    clock,
    sealing::SealingKeys,
    settings::{ServerSettings, Settings},
};

use super::{
    Finding,
    file_system::{FileSystem, of_folder},
};

/// Less free space than this soon makes writes fail, in bytes.
const MIN_FREE_BYTES: u64 = 1 << 30;

pub fn check(settings: &Settings) -> [Finding; 4] {
    let data = settings.server.data();
    [
        data_folder(data),
        file_system(data, settings.database.url.is_none()),
        clock_is_right(),
        secrets(&settings.server),
    ]
}

/// The folder that several nodes share for the contents of files.
pub fn shared_folder(subject: &'static str, folder: &Path) -> Finding {
    let shown = folder.display();
    match folder.is_dir() && may_write(folder) {
        true => Finding::works(subject, format!("In the folder {shown}.")),
        false => Finding::fails(
            subject,
            format!("This user can’t write in {shown}."),
            "Mount the folder of files.store on each node, and give it to the user that runs Parlor.",
        ),
    }
}

fn data_folder(data: &Path) -> Finding {
    const SUBJECT: &str = "Data folder";
    let shown = data.display();
    let owner = "Give the folder to the user that runs Parlor, or name another one (setting server.data, PARLOR_DATA, --data).";
    if !data.exists() {
        // The first start makes it, with what leads to it.
        let parent = data.ancestors().skip(1).find(|folder| folder.is_dir());
        return match parent {
            Some(parent) if may_write(parent) => Finding::works(
                SUBJECT,
                format!("{shown} does not exist yet; the first start makes it."),
            ),
            _ => Finding::fails(
                SUBJECT,
                format!("{shown} does not exist, and can’t be made by this user."),
                owner,
            ),
        };
    }
    let database = data.join("parlor.db");
    if !data.is_dir() || !may_write(data) || (database.exists() && !may_write_file(&database)) {
        return Finding::fails(SUBJECT, format!("This user can’t write in {shown}."), owner);
    }
    match free_bytes(data) {
        Some(free) if free < MIN_FREE_BYTES => Finding::warning(
            SUBJECT,
            format!("{shown} has {} MB free.", free / 1_000_000),
            "Make room on its disk: without any, answers can’t be kept.",
        ),
        Some(free) => Finding::works(SUBJECT, format!("{shown}, {} GB free.", free / 1_000_000_000)),
        None => Finding::works(SUBJECT, format!("{shown}.")),
    }
}

#[cfg(unix)]
fn may_write(folder: &Path) -> bool {
    use rustix::fs::{Access, access};
    access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

#[cfg(unix)]
fn may_write_file(file: &Path) -> bool {
    use rustix::fs::{Access, access};
    access(file, Access::READ_OK | Access::WRITE_OK).is_ok()
}

#[cfg(unix)]
fn free_bytes(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn may_write(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|metadata| !metadata.permissions().readonly())
}

#[cfg(not(unix))]
fn may_write_file(file: &Path) -> bool {
    may_write(file)
}

#[cfg(not(unix))]
fn free_bytes(_folder: &Path) -> Option<u64> {
    None
}

fn file_system(data: &Path, has_sqlite: bool) -> Finding {
    const SUBJECT: &str = "File system";
    match of_folder(data) {
        Some(FileSystem::Local(kind)) => Finding::works(SUBJECT, format!("{kind}, on this machine.")),
        Some(FileSystem::Network(kind)) if !has_sqlite => Finding::works(
            SUBJECT,
            format!("{kind}, a network file system; the data are in Postgres."),
        ),
        Some(FileSystem::Network(kind)) => Finding::warning(
            SUBJECT,
            format!("{kind}, a network file system, on which SQLite can lose or damage data."),
            "Stop Parlor and move the data folder to a disk of this machine. Backups may lie on the network.",
        ),
        Some(FileSystem::Passing(kind)) => Finding::warning(
            SUBJECT,
            format!("{kind}, whose content ends with the container, or when the machine is switched off."),
            "Give the container a volume for the data folder (docs/install.md).",
        ),
        None => Finding::works(SUBJECT, "This system does not tell its kind."),
    }
}

fn clock_is_right() -> Finding {
    const SUBJECT: &str = "Clock";
    match clock::check() {
        Ok(()) => Finding::works(
            SUBJECT,
            format!(
                "{}.",
                clock::format_minute(clock::now(), &jiff::tz::TimeZone::UTC)
            ),
        ),
        Err(error) => Finding::fails(
            SUBJECT,
            format!("{error}."),
            "Set the clock, and keep it right with NTP (timedatectl set-ntp true).",
        ),
    }
}

fn secrets(settings: &ServerSettings) -> Finding {
    const SUBJECT: &str = "Secrets";
    let Some(file) = SealingKeys::file(settings) else {
        return Finding::works(SUBJECT, "The key of stored secrets is in PARLOR_SECRET_KEY.");
    };
    let shown = file.display();
    if !file.exists() {
        let text = format!("No secret is stored yet; the first one makes the key {shown}.");
        return Finding::works(SUBJECT, text);
    }
    if let Err(error) = fs::read(&file) {
        return Finding::fails(
            SUBJECT,
            format!("The key {shown} can’t be read: {error}."),
            "Let the user that runs Parlor read it, and nobody else.",
        );
    }
    if is_readable_by_others(&file) {
        return Finding::warning(
            SUBJECT,
            format!("Other users of this machine can read the key {shown}."),
            format!("chmod 600 {shown}"),
        );
    }
    Finding::works(
        SUBJECT,
        format!("The key of stored secrets is {shown}. Keep a copy of it."),
    )
}

#[cfg(unix)]
fn is_readable_by_others(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_readable_by_others(_file: &Path) -> bool {
    false
}
