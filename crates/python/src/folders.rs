//! The folders of a session outside its sandbox.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use super::{
    environment::Sandbox,
    sandbox::{SessionFolders, temporary_folder, work_folder},
};

/// The number of random characters in a folder's name: too many to guess.
const NAME_CHARS: usize = 12;

/// The beginning of a folder's name.
const NAME: &str = "parlor-";

/// The folders of a session. Dropping it deletes them.
pub struct Folders {
    pub session: SessionFolders,
}

impl Folders {
    /// Makes the folders of a session in the folder for all of them.
    pub fn create(parent: &Path, sandbox: &Sandbox) -> io::Result<Self> {
        let data = create_private(parent, NAME)?.canonicalize()?;
        let mut folders = Self {
            session: SessionFolders { data, outside: None },
        };
        if !matches!(sandbox, Sandbox::Bubblewrap(_)) {
            // Paths of sockets have at most 108 bytes, so it is not in the data folder.
            let outside = create_private(&std::env::temp_dir(), &outside_name(parent))?.canonicalize()?;
            folders.session.outside = Some(outside.clone());
            if *sandbox == Sandbox::Landlock {
                fs::create_dir(work_folder(&outside))?;
                fs::create_dir(temporary_folder(&outside))?;
            }
        }
        Ok(folders)
    }

    /// Deletes the folders that an earlier process has left: in the folder for all of them, which no other process uses, and those of its
    /// sessions outside of it.
    pub fn delete_all(parent: &Path) -> io::Result<()> {
        let name = outside_name(parent);
        for folder in fs::read_dir(std::env::temp_dir())?.flatten() {
            let is_named = folder
                .file_name()
                .to_str()
                .is_some_and(|found| found.starts_with(&name));
            // Of another user it is none of ours, whatever its name is.
            if is_named && folder.metadata()?.uid() == rustix::process::geteuid().as_raw() {
                fs::remove_dir_all(folder.path())?;
            }
        }
        match fs::remove_dir_all(parent) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        let folders = [Some(&self.session.data), self.session.outside.as_ref()];
        for folder in folders.into_iter().flatten() {
            if let Err(error) = fs::remove_dir_all(folder) {
                tracing::warn!(%error, "a folder of a Python session is left in {}", folder.display());
            }
        }
    }
}

/// The beginning of the names of folders outside: the same for each process of a folder for all sessions.
fn outside_name(parent: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    std::path::absolute(parent)
        .unwrap_or_else(|_| parent.to_owned())
        .hash(&mut hasher);
    format!("{NAME}{:016x}-", hasher.finish())
}

/// Makes a folder that nobody else can open.
fn create_private(parent: &Path, name: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(parent)?;
    let random: String = std::iter::repeat_with(fastrand::alphanumeric)
        .take(NAME_CHARS)
        .collect();
    let path = parent.join(format!("{name}{random}"));
    fs::DirBuilder::new().mode(0o700).create(&path)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_a_killed_process_are_deleted_at_the_next_start() {
        let data = tempfile::tempdir().unwrap();
        let [ours, others] = ["ours", "others"].map(|name| data.path().join(name));
        let [left, kept] =
            [&ours, &others].map(|parent| Folders::create(parent, &Sandbox::Landlock).unwrap());
        let outside = left.session.outside.clone().unwrap();
        assert!(outside.exists());
        std::mem::forget(left);
        Folders::delete_all(&ours).unwrap();
        assert!(!outside.exists() && !ours.exists());
        assert!(kept.session.outside.as_ref().unwrap().exists());
        drop(kept);
    }
}
