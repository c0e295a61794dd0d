//! The copies of shared contents in a node's folder: those that are used least leave it, and those of deleted files.

use std::{
    collections::HashSet,
    io,
    time::{Duration, SystemTime},
};

use uuid::Uuid;

use super::Contents;
use crate::contents::LocalFile;

/// The time since its last use for which a copy stays in any case: it may belong to an upload that has no row yet.
const MIN_AGE: Duration = Duration::from_secs(3600);

impl Contents {
    /// Deletes the copies of files whose stored names are not known, and those that are used least until all others have at most
    /// `max_bytes`.
    pub async fn trim_copies(&self, known: &HashSet<Uuid>, max_bytes: u64) -> io::Result<()> {
        let mut copies = self.local_files().await?;
        let oldest_use = SystemTime::now()
            .checked_sub(MIN_AGE)
            .unwrap_or(SystemTime::UNIX_EPOCH);
        for location in unneeded(&mut copies, known, max_bytes, oldest_use) {
            self.delete_local(location).await?;
        }
        Ok(())
    }
}

/// Returns the contents whose copies are to be deleted.
fn unneeded(
    copies: &mut [LocalFile],
    known: &HashSet<Uuid>,
    max_bytes: u64,
    used_before: SystemTime,
) -> HashSet<parlor_storage::FileLocation> {
    copies.sort_by_key(|copy| copy.used_at);
    let mut bytes: u64 = copies.iter().map(|copy| copy.bytes).sum();
    let mut unneeded = HashSet::new();
    for copy in copies.iter().filter(|copy| copy.used_at < used_before) {
        if bytes > max_bytes || !known.contains(&copy.location.stored_name) {
            bytes = bytes.saturating_sub(copy.bytes);
            unneeded.insert(copy.location);
        }
    }
    unneeded
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::{ConversationId, UserId};
    use parlor_storage::FileLocation;

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
            written_at: used_at,
            used_at,
        }
    }

    #[test]
    fn copies_that_are_used_least_leave_first() {
        let mut copies = [copy(1, 10, 5), copy(2, 10, 3), copy(3, 10, 9), copy(4, 1, 8)];
        let known = [1, 2, 3].map(Uuid::from_u128).into_iter().collect();
        let mut names = |max_bytes, used_before| -> Vec<u128> {
            let used_before = SystemTime::UNIX_EPOCH + Duration::from_secs(used_before);
            let found = unneeded(&mut copies, &known, max_bytes, used_before);
            let mut names: Vec<u128> = found
                .iter()
                .map(|location| location.stored_name.as_u128())
                .collect();
            names.sort_unstable();
            names
        };
        assert_eq!(names(100, 100), [4]);
        assert_eq!(names(25, 100), [2, 4]);
        assert_eq!(names(0, 100), [1, 2, 3, 4]);
        // One that was just used stays.
        assert_eq!(names(0, 6), [1, 2]);
        assert_eq!(names(0, 0), [0; 0]);
    }
}
