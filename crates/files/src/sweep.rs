//! The deletion of contents whose rows are gone.

use std::{
    collections::HashSet,
    io,
    time::{Duration, SystemTime},
};

use uuid::Uuid;

use super::{Files, Inner};
use parlor_base::clock;
use parlor_base::crash_point;
use parlor_protocol::Timestamp;
use parlor_storage::{Change, FileChange};

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
    async fn trim_copies(&self) {
        if self.0.contents.shared().is_none() {
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
                    tracing::error!(%error, "a deleted file is still in the data folder; the next start deletes it");
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
        let known = self.stored_names().await?;
        let is_orphan = |name: &Uuid| !known.contains(name);
        let age = match self.settings.store {
            Some(_) => SHARED_ORPHAN_AGE,
            None => Duration::ZERO,
        };
        let before = SystemTime::now()
            .checked_sub(age)
            .unwrap_or(SystemTime::UNIX_EPOCH);
        let stored = match self.contents.shared() {
            None => self.contents.list_local(before).await?,
            Some(shared) => {
                let age = i64::try_from(SHARED_ORPHAN_AGE.as_millis()).unwrap_or(i64::MAX);
                let before = Timestamp(clock::now().0.saturating_sub(age));
                let all = shared.list().await?;
                let old = all.into_iter().filter(|(_, stored_at)| *stored_at <= before);
                old.map(|(content, _)| content.location).collect()
            }
        };
        let orphans: HashSet<_> = stored
            .into_iter()
            .filter(|location| is_orphan(&location.stored_name))
            .collect();
        for location in &orphans {
            self.contents.delete(*location).await?;
        }
        // A folder that nodes share may have what another one is writing, a cache has its own node's.
        let is_cache = self.contents.shared().is_some();
        let leftover_age = if is_cache { Duration::ZERO } else { age };
        self.contents.delete_leftovers(leftover_age).await?;
        Ok(orphans.len())
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
