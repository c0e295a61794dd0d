//! The keys of sealed secrets: from `PARLOR_SECRET_KEY`, or from a file that is made when the first secret is sealed.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use parking_lot::Mutex;
use ring::rand::{SecureRandom, SystemRandom};

use super::{InvalidKey, KEY_BYTES, OpenError, Place, SealError, SealingKey, key_id};
use crate::settings::{Secret, ServerSettings};

/// The name of the key's file in the data folder, unless a setting names another one.
const KEY_FILE_NAME: &str = "secret.key";

/// The largest file that is read as one with keys.
const MAX_FILE_BYTES: u64 = 16 << 10;

/// The keys of sealed secrets. The first one seals; all of them open, so that a key can be replaced by another one before it.
#[derive(Debug)]
pub struct SealingKeys {
    /// The file, unless the environment has the keys.
    file: Option<PathBuf>,
    /// The keys that are known now. Those of a file that does not exist yet are none.
    keys: Mutex<Vec<SealingKey>>,
}

impl SealingKeys {
    /// Reads the keys. A file that can't be read is logged, and read again when a secret is sealed.
    pub fn open(settings: &ServerSettings) -> Self {
        if let Some(key) = &settings.secret_key {
            // The settings were checked.
            let keys = parse_keys(key).unwrap_or_default();
            return Self {
                file: None,
                keys: Mutex::new(keys),
            };
        }
        let file = key_file(settings);
        let keys = read_file(&file).unwrap_or_else(|error| {
            tracing::error!(%error, "stored keys of model servers can't be read");
            Vec::new()
        });
        Self {
            file: Some(file),
            keys: Mutex::new(keys),
        }
    }

    /// Returns the file with the keys, which need not exist; `None` if the environment has them.
    pub fn file(settings: &ServerSettings) -> Option<PathBuf> {
        settings.secret_key.is_none().then(|| key_file(settings))
    }

    /// Seals a secret for its place.
    ///
    /// # Errors
    ///
    /// If there is no key and none can be made.
    pub fn seal(&self, secret: &Secret, place: Place<'_>) -> Result<Vec<u8>, SealError> {
        let mut keys = self.keys.lock();
        if let (true, Some(file)) = (keys.is_empty(), &self.file) {
            *keys = read_or_create(file)?;
        }
        let key = keys.first().ok_or(SealError::NoKey)?;
        key.seal(&secret.0, place).map_err(|_| SealError::NoRandomBytes)
    }

    /// Opens a secret that was sealed for this place.
    ///
    /// # Errors
    ///
    /// If it was sealed with none of these keys, or for another place, or is damaged.
    pub fn unseal(&self, sealed: &[u8], place: Place<'_>) -> Result<Secret, OpenError> {
        let id = key_id(sealed)?;
        let keys = self.keys.lock();
        let key = keys.iter().find(|key| key.id == *id).ok_or(OpenError::OtherKey)?;
        key.open(sealed, place).ok_or(OpenError::Damaged)
    }

    /// Returns true if a secret was not sealed with the key that seals now, so that sealing it again would replace an old key.
    pub fn is_outdated(&self, sealed: &[u8]) -> bool {
        let keys = self.keys.lock();
        let first = keys.first().map(|key| &key.id[..]);
        key_id(sealed).is_ok_and(|id| first.is_some_and(|first| first != id))
    }
}

fn key_file(settings: &ServerSettings) -> PathBuf {
    match &settings.secret_key_file {
        Some(file) => file.to_path_buf(),
        None => settings.data().join(KEY_FILE_NAME),
    }
}

/// Checks that a text has keys, separated as [`SealingKeys`] reads them.
///
/// # Errors
///
/// If it has none, or one of them is invalid.
pub fn check_keys(text: &Secret) -> Result<(), InvalidKey> {
    parse_keys(text).map(drop)
}

/// Splits a text into its keys: they are separated by commas or white space.
pub(crate) fn key_words(text: &Secret) -> impl Iterator<Item = &str> {
    let words = text.0.split(|c: char| c == ',' || c.is_whitespace());
    words.filter(|word| !word.is_empty())
}

/// Reads keys, the one that seals first.
pub(super) fn parse_keys(text: &Secret) -> Result<Vec<SealingKey>, InvalidKey> {
    let keys: Vec<_> = key_words(text).map(SealingKey::parse).collect::<Result<_, _>>()?;
    match keys.is_empty() {
        true => Err(InvalidKey),
        false => Ok(keys),
    }
}

fn read_or_create(file: &Path) -> Result<Vec<SealingKey>, SealError> {
    let keys = read_file(file)?;
    if !keys.is_empty() {
        return Ok(keys);
    }
    let mut bytes = [0; KEY_BYTES];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| SealError::NoRandomBytes)?;
    create_file(file, &BASE64_STANDARD.encode(bytes)).map_err(|error| file_error(file, &error))?;
    // What the file has is what the next start reads.
    read_file(file)
}

/// Reads the keys of a file; none if it does not exist, or is empty since a start ended while it was made.
fn read_file(file: &Path) -> Result<Vec<SealingKey>, SealError> {
    let opened = match File::open(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened.map_err(|error| file_error(file, &error))?,
    };
    warn_if_readable_by_others(file, &opened);
    let mut text = String::new();
    let read = opened.take(MAX_FILE_BYTES).read_to_string(&mut text);
    read.map_err(|error| file_error(file, &error))?;
    match text.trim().is_empty() {
        true => Ok(Vec::new()),
        false => parse_keys(&Secret(text)).map_err(|error| file_error(file, &error)),
    }
}

fn file_error(file: &Path, cause: &dyn ToString) -> SealError {
    SealError::KeyFile {
        file: file.display().to_string(),
        cause: cause.to_string(),
    }
}

/// Makes the file, or fills an empty one. It is on the disk before anything is sealed with its key.
fn create_file(file: &Path, key: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let created = options.clone().create_new(true).open(file);
    let mut created = match created {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => options.open(file)?,
        created => created?,
    };
    created.write_all([key, "\n"].concat().as_bytes())?;
    created.sync_all()?;
    if let Some(folder) = file.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Logs a warning if other users of the machine may read the keys.
fn warn_if_readable_by_others(file: &Path, opened: &File) {
    #[cfg(unix)]
    if let Ok(metadata) = opened.metadata() {
        use std::os::unix::fs::PermissionsExt;
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            tracing::warn!(
                file = %file.display(),
                mode = format!("{mode:o}"),
                "other users of this machine may read the secret key: give its file the mode 600"
            );
        }
    }
    #[cfg(not(unix))]
    let _ = (file, opened);
}

/// Returns the text of a new key. For tests.
#[cfg(test)]
pub(super) fn key_text(byte: u8) -> String {
    BASE64_STANDARD.encode([byte; KEY_BYTES])
}

#[cfg(test)]
pub(super) fn read_key_file(folder: &Path) -> String {
    std::fs::read_to_string(folder.join(KEY_FILE_NAME)).unwrap()
}
