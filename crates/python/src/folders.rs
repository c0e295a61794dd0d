//! The folders of a session outside its sandbox.

use std::{
    fs, io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use super::{
    environment::Sandbox,
    sandbox::{SessionFolders, temporary_folder, work_folder},
};

/// The number of random characters in a folder's name: too many to guess.
const NAME_CHARS: usize = 12;

/// The folders of a session. Dropping it deletes them.
pub struct Folders {
    pub session: SessionFolders,
}

impl Folders {
    /// Makes the folders of a session in the folder for all of them.
    pub fn create(parent: &Path, sandbox: &Sandbox) -> io::Result<Self> {
        let data = create_private(parent)?.canonicalize()?;
        let mut folders = Self {
            session: SessionFolders { data, outside: None },
        };
        if !matches!(sandbox, Sandbox::Bubblewrap(_)) {
            // Paths of sockets have at most 108 bytes, so it is not in the data folder.
            let outside = create_private(&std::env::temp_dir())?.canonicalize()?;
            folders.session.outside = Some(outside.clone());
            if *sandbox == Sandbox::Landlock {
                fs::create_dir(work_folder(&outside))?;
                fs::create_dir(temporary_folder(&outside))?;
            }
        }
        Ok(folders)
    }

    /// Deletes the folders that an earlier process has left.
    pub fn delete_all(parent: &Path) -> io::Result<()> {
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

/// Makes a folder that nobody else can open.
fn create_private(parent: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(parent)?;
    let name: String = std::iter::repeat_with(fastrand::alphanumeric)
        .take(NAME_CHARS)
        .collect();
    let path = parent.join(format!("parlor-{name}"));
    fs::DirBuilder::new().mode(0o700).create(&path)?;
    Ok(path)
}
