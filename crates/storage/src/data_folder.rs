//! The data folder: used by one process at a time, private to its system user, and checked before SQLite
//! opens its files there.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::{StorageError, sqlite::DATABASE_FILE_NAME};

/// The file in the data folder that is locked while a Parlor process uses it.
const LOCK_FILE_NAME: &str = "parlor.lock";

/// The folder of the users' files.
const FILES_FOLDER_NAME: &str = "files";

/// The file that is written when the database was lost. While it exists, no content in [`FILES_FOLDER_NAME`] is deleted because
/// no message has it.
const KEEP_FILES_MARKER: &str = "keep-files";

/// The content of [`KEEP_FILES_MARKER`].
const KEEP_FILES_NOTE: &[u8] = b"The database was empty or missing when Parlor started. While this file exists, Parlor keeps the contents in \
    files/ that belong to no message.\nDelete this file to have the next start delete them.\n";

/// The content of the lock file next to a database.
const DATABASE_NOTE: &[u8] = b"parlor.db\n";

/// The suffixes of SQLite's own files next to the database.
const SQLITE_FILE_SUFFIXES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The locks on a data folder. The system releases them when the process dies.
#[derive(Debug)]
pub(crate) struct DataFolderLock {
    /// True if the lock file existed before: Parlor has used the folder.
    was_used: bool,
    /// True if the lock file says that there was a database.
    had_database: bool,
    file: File,
    /// The folder itself: unlike the lock file, it can't be deleted while the data remains.
    folder: Option<File>,
}

impl Drop for DataFolderLock {
    /// Unlocks explicitly. Closing the files is not enough: a child process that has just been forked has them open
    /// until it executes its program, and would keep the folder locked for the next start.
    fn drop(&mut self) {
        for locked in self.folder.iter().chain([&self.file]) {
            if let Err(error) = locked.unlock() {
                tracing::debug!(%error, "the data folder can't be unlocked before it is closed");
            }
        }
    }
}

impl DataFolderLock {
    /// Notes in the lock file that there is a database, so that its loss is noticed.
    pub fn note_database(&self) {
        if self.had_database {
            return;
        }
        if let Err(error) = (&self.file).write_all(DATABASE_NOTE) {
            tracing::debug!(%error, "the lock file can't be written");
        }
    }

    /// Opens the locked files once more, as forking does.
    #[cfg(test)]
    pub fn duplicate_files(&self) -> Vec<File> {
        let locked = self.folder.iter().chain([&self.file]);
        locked
            .map(|file| file.try_clone().expect("an open file"))
            .collect()
    }
}

/// Creates a folder that only its owner may enter, if it does not exist.
///
/// # Errors
///
/// If it can't be created.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Locks the folder against other processes. A second process would take the first one's active runs for runs
/// left by a crash, and would assign event positions twice.
///
/// The folder itself is locked, since the lock file can be deleted while it is in use. The file is locked
/// too: for earlier versions, and for file systems on which a folder can't be locked.
///
/// Nodes share the folder: `is_shared` locks it against processes that do not.
pub(crate) fn lock_folder(folder: &Path, is_shared: bool) -> Result<DataFolderLock, StorageError> {
    let try_lock = |file: &File| match is_shared {
        true => file.try_lock_shared(),
        false => file.try_lock(),
    };
    let of_folder = match File::open(folder) {
        Ok(open) => match try_lock(&open) {
            Ok(()) => Some(open),
            Err(TryLockError::WouldBlock) => return Err(StorageError::InUse),
            Err(TryLockError::Error(error)) => {
                tracing::debug!(%error, "the data folder itself can't be locked; only the lock file is");
                None
            }
        },
        // Folders can't be opened on systems other than Unix.
        Err(_) => None,
    };
    let path = folder.join(LOCK_FILE_NAME);
    let was_used = path.exists();
    let file = owner_only_options().truncate(false).open(path)?;
    match try_lock(&file) {
        Ok(()) => Ok(DataFolderLock {
            was_used,
            had_database: file.metadata().is_ok_and(|file| file.len() > 0),
            file,
            folder: of_folder,
        }),
        Err(TryLockError::WouldBlock) => Err(StorageError::InUse),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// Returns options that open a file, or create it with permissions for its owner only.
fn owner_only_options() -> OpenOptions {
    let mut options = File::options();
    options.create(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates the database's file if it does not exist: SQLite gives its other files the same permissions.
/// Returns true if the file is missing although there was a database, or empty although the folder was used before or
/// has other files: it once had data.
///
/// # Errors
///
/// If SQLite would delete committed data, as it does with the write-ahead log of an empty file.
pub(crate) fn prepare_database_file(folder: &Path, lock: &DataFolderLock) -> Result<bool, StorageError> {
    let file = folder.join(DATABASE_FILE_NAME);
    let had_database = lock.had_database || folder.join(FILES_FOLDER_NAME).exists();
    let is_lost = had_database && !file.exists();
    let is_empty = is_lost || fs::metadata(&file).is_ok_and(|file| file.len() == 0);
    // SQLite treats a missing file as an empty one.
    if is_empty || !file.exists() {
        let log = folder.join([DATABASE_FILE_NAME, SQLITE_FILE_SUFFIXES[0]].concat());
        if fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
            return Err(StorageError::EmptyDatabase(log));
        }
    }
    // SQLite opens a read-only file and reports it.
    if !file.exists() {
        owner_only_options().truncate(false).open(&file)?;
    }
    if !is_empty {
        return Ok(false);
    }
    let ours = [DATABASE_FILE_NAME, LOCK_FILE_NAME].map(OsStr::new);
    let others = fs::read_dir(folder)?
        .filter_map(Result::ok)
        .map(|entry| entry.file_name());
    let others = others.filter(|name| !ours.contains(&name.as_os_str())).count();
    tracing::warn!(
        others,
        was_used = lock.was_used,
        "parlor.db was empty or missing: Parlor starts with no data. If there were conversations, stop Parlor and restore a backup"
    );
    let lacks_earlier_data = lock.was_used || others > 0;
    if lacks_earlier_data {
        // Written before there is a database: later starts cannot tell that it was lost.
        keep_files(folder)?;
    }
    Ok(lacks_earlier_data)
}

/// Notes that no content may be deleted because no message has it.
fn keep_files(folder: &Path) -> Result<(), StorageError> {
    let marker = folder.join(KEEP_FILES_MARKER);
    let mut marker = owner_only_options().truncate(true).open(marker)?;
    Ok(marker.write_all(KEEP_FILES_NOTE)?)
}

/// Keeps the files in a folder whose database has just been made: they are those of another one. Returns false if there are none.
pub(crate) fn keep_files_of_others(folder: &Path) -> Result<bool, StorageError> {
    let has_files = folder.join(FILES_FOLDER_NAME).exists();
    if has_files {
        keep_files(folder)?;
    }
    Ok(has_files)
}

/// Returns the file because of which contents without a message are kept, if it exists.
pub fn keep_files_marker(folder: &Path) -> Option<PathBuf> {
    let marker = folder.join(KEEP_FILES_MARKER);
    let is_missing = matches!(marker.try_exists(), Ok(false));
    (!is_missing).then_some(marker)
}

/// Removes other system users' permissions from the folder and from Parlor's files in it, because
/// conversations are private. A failure is logged and does not prevent the start.
#[cfg(unix)]
pub(crate) fn make_private(folder: &Path) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    const OTHERS_MODE_BITS: u32 = 0o077;
    const STICKY_MODE_BIT: u32 = 0o1000;
    // A shared folder is left unchanged: it may be a home directory or /tmp.
    let is_for_parlor = |mode: u32| mode & STICKY_MODE_BIT == 0 && has_only_own_files(folder);
    let files = owned_file_names().map(|name| folder.join(name));
    for path in files.chain([folder.to_owned()]) {
        let Ok(found) = fs::metadata(&path) else { continue };
        let mode = found.mode() & 0o7777;
        if mode & OTHERS_MODE_BITS == 0 {
            continue;
        }
        if found.is_dir() && !is_for_parlor(mode) {
            tracing::warn!(
                "other users of this machine can enter {} ({mode:03o}), which contains more than Parlor's data: use a separate folder",
                path.display()
            );
            continue;
        }
        let private = mode & !OTHERS_MODE_BITS;
        match fs::set_permissions(&path, fs::Permissions::from_mode(private)) {
            Ok(()) => tracing::warn!(
                "other users of this machine could open {} ({mode:03o}); now only its owner can ({private:03o})",
                path.display()
            ),
            Err(error) => tracing::warn!(
                "other users of this machine can open {} ({mode:03o}), and its permissions can't be changed: {error}",
                path.display()
            ),
        }
    }
}

#[cfg(not(unix))]
pub(crate) fn make_private(_: &Path) {}

/// The names of all files that Parlor creates in its folder.
#[cfg(unix)]
fn owned_file_names() -> impl Iterator<Item = String> {
    let of_database = SQLITE_FILE_SUFFIXES.map(|suffix| [DATABASE_FILE_NAME, suffix].concat());
    [
        LOCK_FILE_NAME,
        DATABASE_FILE_NAME,
        FILES_FOLDER_NAME,
        KEEP_FILES_MARKER,
    ]
    .map(str::to_owned)
    .into_iter()
    .chain(of_database)
}

/// Returns true if the folder has only Parlor's files. Returns false if it can't be read.
#[cfg(unix)]
fn has_only_own_files(folder: &Path) -> bool {
    let is_ours = |name: &OsStr| owned_file_names().any(|ours| name == ours.as_str());
    fs::read_dir(folder)
        .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| is_ours(&entry.file_name()))))
}
