//! The folder of the contents, copied into another data folder with a digest of each file: for backups and moves.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

use parlor_base::settings::{FileStore, Settings};
use parlor_storage::transfer::create_folder;

use super::FOLDER_NAME;

/// The suffix of a file that is being written. The next start deletes it.
const PART_SUFFIX: &str = ".part";

const BUFFER_BYTES: usize = 128 << 10;

/// The size of a file and the hash of its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    pub bytes: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

/// The digests of files, by their paths below the data folder, with slashes.
pub type FileDigests = BTreeMap<String, FileDigest>;

/// Returns the folder of contents, if neither the database nor a bucket has them.
pub fn contents_folder(settings: &Settings) -> PathBuf {
    match &settings.files.store {
        Some(FileStore::Folder(folder)) => folder.to_path_buf(),
        _ => settings.server.data().join(FOLDER_NAME),
    }
}

/// Copies the contents of a folder that `digests` does not have with the same length (a file grows while it is uploaded) into a data
/// folder, and adds theirs. One that disappears meanwhile is left out: its row is gone, too.
///
/// # Errors
///
/// If a file can't be read or written.
pub fn copy_contents(from: &Path, to: &Path, digests: &mut FileDigests) -> io::Result<()> {
    for name in content_names(from)? {
        let source = from.join(
            name.strip_prefix(FOLDER_NAME)
                .unwrap_or(&name)
                .trim_start_matches('/'),
        );
        let known = digests.get(&name).map(|digest| digest.bytes);
        if known.is_some() && source.metadata().is_ok_and(|file| known == Some(file.len())) {
            continue;
        }
        match copy_file(&source, &to.join(&name)) {
            Ok(digest) => digests.insert(name, digest),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
    }
    Ok(())
}

/// Returns the paths of all contents of a folder, as they are below a data folder, with slashes.
///
/// # Errors
///
/// If a folder can't be read.
pub fn content_names(folder: &Path) -> io::Result<Vec<String>> {
    let mut paths = Vec::new();
    list(folder, Path::new(FOLDER_NAME), &mut paths)?;
    let names = paths.iter().filter_map(|path| path.to_str());
    Ok(names
        .map(|name| name.replace(std::path::MAIN_SEPARATOR, "/"))
        .collect())
}

/// Adds the paths of all files below a folder. Links are left out, of which Parlor makes none.
fn list(folder: &Path, path: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let below = path.join(entry.file_name());
        match entry.file_type()? {
            kind if kind.is_dir() => list(&entry.path(), &below, paths)?,
            kind if kind.is_file() && below.extension().is_none_or(|suffix| suffix != "part") => {
                paths.push(below)
            }
            _ => {}
        }
    }
    Ok(())
}

/// Copies a file with its digest. It has its name once it is complete.
///
/// # Errors
///
/// If it can't be read or written.
pub fn copy_file(from: &Path, to: &Path) -> io::Result<FileDigest> {
    let mut source = File::open(from)?;
    if let Some(folder) = to.parent() {
        create_folder(folder)?;
    }
    let mut part = to.as_os_str().to_owned();
    part.push(PART_SUFFIX);
    let mut options = File::options();
    options.create(true).write(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut target = options.open(&part)?;
    let digest = digest(&mut source, |bytes| target.write_all(bytes))?;
    target.sync_all()?;
    fs::rename(&part, to)?;
    if let Some(folder) = to.parent() {
        sync_folder(folder)?;
    }
    Ok(digest)
}

/// Makes the names in a folder survive a power cut.
///
/// # Errors
///
/// If it can't be opened or written.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    match cfg!(unix) {
        true => File::open(folder)?.sync_all(),
        false => Ok(()),
    }
}

/// Returns the digest of a file.
///
/// # Errors
///
/// If it can't be read.
pub fn digest_file(file: &Path) -> io::Result<FileDigest> {
    digest(&mut File::open(file)?, |_| Ok(()))
}

pub(crate) fn digest(
    source: &mut File,
    mut write: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<FileDigest> {
    let mut context = Context::new(&SHA256);
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut bytes = 0;
    loop {
        let read = match source.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let Some(part) = buffer.get(..read).filter(|part| !part.is_empty()) else {
            break;
        };
        context.update(part);
        write(part)?;
        bytes += part.len() as u64;
    }
    Ok(FileDigest {
        bytes,
        sha256: hexadecimal(context.finish().as_ref()),
    })
}

/// Returns the hexadecimal digits of a hash.
pub(crate) fn hexadecimal(hash: &[u8]) -> String {
    hash.iter().fold(String::with_capacity(64), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}
