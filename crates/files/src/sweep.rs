//! The deletion of contents whose rows are gone.

use std::{collections::HashSet, io, time::Duration};

use super::Files;
use parlor_base::clock;
use parlor_base::crash_point;
use parlor_protocol::Timestamp;
use parlor_storage::{Change, FileChange};

/// The interval between two looks for uploads that were never sent.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(3600);

impl Files {
    /// Deletes contents without a row and unfinished forms, as a crash leaves them. Only for the start: an upload has no row
    /// before its end.
    pub async fn delete_orphans(&self) {
        let deleted = async {
            let known = self.0.storage.file_locations().await.map_err(io::Error::other)?;
            let known: HashSet<_> = known.iter().map(|location| location.stored_name).collect();
            let mut count = 0_usize;
            for location in self.0.contents.list().await? {
                if !known.contains(&location.stored_name) {
                    self.0.contents.delete(location).await?;
                    count += 1;
                }
            }
            self.0.contents.delete_leftovers().await?;
            Ok::<_, io::Error>(count)
        };
        match deleted.await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "deleted files that belong to no message"),
            Err(error) => tracing::error!(%error, "files that belong to no message can't be deleted"),
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

/// Deletes the contents of deleted files and expired uploads, for as long as the server runs.
pub async fn sweep_periodically(files: Files) {
    let mut deletions = files.0.storage.watch_deletions().await;
    let mut ticks = tokio::time::interval(EXPIRY_INTERVAL);
    loop {
        tokio::select! {
            _ = ticks.tick() => files.expire_uploads().await,
            changed = deletions.changed() => if changed.is_err() {
                return;
            },
        }
        files.delete_contents().await;
    }
}
