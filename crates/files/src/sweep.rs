//! The deletion of contents whose rows are gone.

use std::{collections::HashSet, io, time::Duration};

use uuid::Uuid;

use super::{Files, Inner};
use parlor_base::{clock, crash_point, settings::FileStore};
use parlor_protocol::Timestamp;
use parlor_storage::{Change, FileChange, FileLocation, sqlite::keep_files_marker};

/// The interval between two looks for uploads that were never sent.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(3600);

/// The age of a content without a row at which it is deleted if other nodes may be writing it. Longer than any upload.
const SHARED_ORPHAN_AGE: Duration = Duration::from_secs(24 * 3600);

impl Files {
    /// Deletes contents without a row and unfinished forms, as a crash leaves them. Only for the start: an upload has no row
    /// before its end.
    pub async fn delete_orphans(&self) {
        match self.0.delete_orphans().await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "deleted files that belong to no message"),
            Err(error) => tracing::error!(%error, "files that belong to no message can't be deleted"),
        }
    }

    /// Deletes copies of shared contents that are not needed.
    pub(super) async fn trim_copies(&self) {
        // They may be those of the lost database.
        let are_kept = self.0.in_data.parent().and_then(keep_files_marker).is_some();
        if self.0.contents.shared().is_none() || are_kept {
            return;
        }
        let trimmed = async {
            let known = self.0.stored_names().await?;
            let max_bytes = self.0.settings.cache_bytes as u64;
            self.0.contents.trim_copies(&known, max_bytes).await
        };
        if let Err(error) = trimmed.await {
            tracing::warn!(%error, "copies of files that are not needed can't be deleted yet");
        }
    }

    /// Deletes the contents of deleted files.
    async fn delete_contents(&self) {
        loop {
            let deleted = match self.0.storage.deleted_files().await {
                Ok(deleted) if deleted.is_empty() => return,
                Ok(deleted) => deleted,
                Err(error) => {
                    tracing::error!(%error, "the deleted files can't be listed; the next start deletes them");
                    return;
                }
            };
            crash_point!("files::deleting");
            for location in &deleted {
                if let Err(error) = self.0.contents.delete(*location).await {
                    tracing::error!(%error, "a deleted file is still there; the next start deletes it");
                    return;
                }
            }
            crash_point!("files::deleted");
            let forget = Change::File(FileChange::ForgetDeletedFiles { locations: deleted });
            if self.0.journal.submit(forget).await.is_err() {
                // The next start continues.
                return;
            }
        }
    }

    async fn expire_uploads(&self) {
        let keep = i64::try_from(self.0.settings.keep_unsent.as_millis()).unwrap_or(i64::MAX);
        let before = Timestamp(clock::now().0.saturating_sub(keep));
        if let Err(error) = self
            .0
            .journal
            .submit(Change::File(FileChange::ExpireUploads { before }))
            .await
        {
            tracing::warn!(%error, "uploads that were never sent can't be deleted yet");
        }
    }
}

impl Inner {
    async fn delete_orphans(&self) -> io::Result<usize> {
        let (orphans, leftover_age) = match self.settings.store {
            None => (self.contents.list_local().await?, None),
            Some(FileStore::Database) => (self.old_contents_of_database().await?, None),
            // A database that is lost or older must not take them with it: what a crash has left there stays.
            Some(FileStore::Objects(_)) => (Vec::new(), None),
            Some(FileStore::Folder(_)) => (Vec::new(), Some(SHARED_ORPHAN_AGE)),
        };
        let known = match orphans.is_empty() {
            true => HashSet::new(),
            false => self.stored_names().await?,
        };
        let orphans: HashSet<FileLocation> = orphans
            .into_iter()
            .filter(|location| !known.contains(&location.stored_name))
            .collect();
        for location in &orphans {
            self.contents.delete(*location).await?;
        }
        self.contents.delete_leftovers(leftover_age).await?;
        Ok(orphans.len())
    }

    /// Returns the contents in the database that no node is storing just now.
    async fn old_contents_of_database(&self) -> io::Result<Vec<FileLocation>> {
        let age = i64::try_from(SHARED_ORPHAN_AGE.as_millis()).unwrap_or(i64::MAX);
        let before = Timestamp(clock::now().0.saturating_sub(age));
        let all = self.storage.contents().await.map_err(io::Error::other)?;
        let old = all.iter().filter(|content| content.created_at <= before);
        Ok(old.map(|content| content.location).collect())
    }

    /// Returns the names of all contents that have a row.
    pub(super) async fn stored_names(&self) -> io::Result<HashSet<Uuid>> {
        let known = self.storage.file_locations().await.map_err(io::Error::other)?;
        Ok(known.iter().map(|location| location.stored_name).collect())
    }
}

/// Deletes the contents of deleted files and expired uploads, for as long as the server runs.
pub async fn sweep_periodically(files: Files) {
    let mut deletions = files.0.storage.watch_deletions().await;
    let mut ticks = tokio::time::interval(EXPIRY_INTERVAL);
    loop {
        tokio::select! {
            _ = ticks.tick() => {
                files.expire_uploads().await;
                files.trim_copies().await;
            }
            changed = deletions.changed() => if changed.is_err() {
                return;
            },
        }
        files.delete_contents().await;
    }
}
