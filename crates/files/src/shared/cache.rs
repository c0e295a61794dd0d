//! The copies of shared contents in a node's folder: those that are used least leave it, and those of deleted files.

use std::{
    collections::{HashMap, HashSet},
    io,
    time::{Duration, SystemTime},
};

use uuid::Uuid;

use super::Contents;
use crate::contents::LocalFile;
use parlor_storage::FileLocation;

/// The time since its last use for which a copy stays in any case: it may belong to an upload that has no row yet.
const MIN_AGE: Duration = Duration::from_secs(3600);

impl Contents {
    /// Deletes the copies of files whose stored names are not known, and those that are used least until all others have at most
    /// `max_bytes`.
    pub async fn trim_copies(&self, known: &HashSet<Uuid>, max_bytes: u64) -> io::Result<()> {
        let oldest_use = SystemTime::now()
            .checked_sub(MIN_AGE)
            .unwrap_or(SystemTime::UNIX_EPOCH);
        for location in unneeded(&self.local_files().await?, known, max_bytes, oldest_use) {
            self.delete_local(location).await?;
        }
        Ok(())
    }
}

/// The copies of a content in all its forms.
struct Copies {
    location: FileLocation,
    bytes: u64,
    used_at: SystemTime,
}

/// Returns the contents whose copies are to be deleted.
fn unneeded(
    files: &[LocalFile],
    known: &HashSet<Uuid>,
    max_bytes: u64,
    used_before: SystemTime,
) -> Vec<FileLocation> {
    let mut contents: HashMap<FileLocation, Copies> = HashMap::new();
    for file in files {
        let copies = contents.entry(file.location).or_insert(Copies {
            location: file.location,
            bytes: 0,
            used_at: SystemTime::UNIX_EPOCH,
        });
        copies.bytes += file.bytes;
        copies.used_at = copies.used_at.max(file.used_at);
    }
    let mut contents: Vec<Copies> = contents.into_values().collect();
    contents.sort_by_key(|copies| copies.used_at);
    let mut bytes: u64 = contents.iter().map(|copies| copies.bytes).sum();
    let mut unneeded = Vec::new();
    for copies in contents.iter().filter(|copies| copies.used_at < used_before) {
        if bytes > max_bytes || !known.contains(&copies.location.stored_name) {
            bytes -= copies.bytes;
            unneeded.push(copies.location);
        }
    }
    unneeded
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::{ConversationId, UserId};

    fn copy(name: u128, bytes: u64, used_at: u64) -> LocalFile {
        let used_at = SystemTime::UNIX_EPOCH + Duration::from_secs(used_at);
        LocalFile {
            location: FileLocation {
                user_id: UserId::LOCAL,
                conversation_id: ConversationId::NONE,
                stored_name: Uuid::from_u128(name),
            },
            form: None,
            bytes,
            used_at,
        }
    }

    #[test]
    fn contents_that_are_used_least_leave_first() {
        // The first one has two forms.
        let copies = [
            copy(1, 6, 5),
            copy(2, 10, 3),
            copy(3, 10, 9),
            copy(4, 1, 8),
            copy(1, 4, 1),
        ];
        let known = [1, 2, 3].map(Uuid::from_u128).into_iter().collect();
        let names = |max_bytes, used_before| -> Vec<u128> {
            let used_before = SystemTime::UNIX_EPOCH + Duration::from_secs(used_before);
            let found = unneeded(&copies, &known, max_bytes, used_before);
            found
                .iter()
                .map(|location| location.stored_name.as_u128())
                .collect()
        };
        assert_eq!(names(100, 100), [4]);
        assert_eq!(names(25, 100), [2, 4]);
        assert_eq!(names(20, 100), [2, 1, 4]);
        assert_eq!(names(0, 100), [2, 1, 4, 3]);
        // One that was just used stays.
        assert_eq!(names(0, 6), [2, 1]);
        assert_eq!(names(0, 0), [0; 0]);
    }
}
