//! The files of a sandbox without file systems of its own: their folders are walked, and files that are open without a name are added.

use std::{collections::HashMap, fs, os::unix::fs::MetadataExt};

use super::{FILE_BYTES, MAX_FILES};
use crate::wire::LandlockRules;

/// The unit of the size that a file takes on its disk.
pub const BLOCK_BYTES: u64 = 512;

/// Sums up the files in the writable folders. `deleted` are open files without a name, with their sizes. Returns their size with what the
/// system holds for them, in bytes.
///
/// # Errors
///
/// If they exceed a limit, in words.
pub fn check(rules: &LandlockRules, deleted: &HashMap<(u64, u64), u64>) -> Result<u64, String> {
    let mut sizes = deleted.clone();
    let mut folders = rules.writable.clone();
    while let Some(folder) = folders.pop() {
        // A folder may be gone by now, or be closed to its owner.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(file) = entry.metadata() else {
                continue;
            };
            if file.is_dir() {
                folders.push(entry.path());
            }
            let size = file.blocks().saturating_mul(BLOCK_BYTES);
            sizes.insert((file.dev(), file.ino()), size);
            if sizes.len() as u64 > MAX_FILES {
                return Err(format!("it made more than {MAX_FILES} files"));
            }
        }
    }
    let content = sizes.values().fold(0, |sum: u64, size| sum.saturating_add(*size));
    let limit = rules.writable_bytes;
    match content > limit {
        true => Err(format!(
            "its files took more than {limit} bytes (setting python.folder_bytes)"
        )),
        false => Ok(content.saturating_add((sizes.len() as u64).saturating_mul(FILE_BYTES))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_count_once_with_those_without_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        fs::create_dir_all(path.join("a/b")).unwrap();
        fs::write(path.join("a/b/file"), vec![1; 60 << 10]).unwrap();
        fs::hard_link(path.join("a/b/file"), path.join("again")).unwrap();
        std::os::unix::fs::symlink("/usr", path.join("link")).unwrap();
        let rules = |writable_bytes| LandlockRules {
            writable: vec![path.to_owned()],
            writable_bytes,
            ..LandlockRules::default()
        };
        let deleted = HashMap::from([((0, 7), 50 << 10)]);
        let bytes = check(&rules(1 << 20), &HashMap::new()).unwrap();
        assert!(((60 << 10)..(120 << 10)).contains(&bytes), "{bytes}");
        let more = check(&rules(1 << 20), &deleted).unwrap();
        assert_eq!(more - bytes, (50 << 10) + FILE_BYTES);
        let exceeded = check(&rules(100 << 10), &deleted).unwrap_err();
        assert!(exceeded.contains("python.folder_bytes"), "{exceeded}");
    }
}
