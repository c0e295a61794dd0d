//! The limit of all files of a user and the tables made of them, also for uploads that are still running.

use std::collections::HashMap;

use parking_lot::Mutex;

use super::{Files, Inner, UploadError};
use parlor_protocol::UserId;
use parlor_storage::StorageError;

/// The sizes of the uploads that are running, by user.
#[derive(Default)]
pub struct RunningUploads(Mutex<HashMap<UserId, u64>>);

/// An upload that is running. It counts until it is dropped.
pub struct RunningUpload<'a> {
    files: &'a Inner,
    user_id: UserId,
    /// The number of bytes that have arrived.
    bytes: u64,
    /// The stored files of the user at its beginning.
    stored: u64,
}

impl Inner {
    /// Begins an upload. `length` is its size, if the request names it.
    pub(super) async fn begin_upload(
        &self,
        user_id: UserId,
        length: Option<u64>,
    ) -> Result<RunningUpload<'_>, UploadError> {
        let limit = self.settings.max_bytes;
        if length.is_some_and(|length| length > limit as u64) {
            return Err(UploadError::TooLarge { limit });
        }
        let stored = self.stored_bytes(user_id).await?;
        let upload = RunningUpload {
            files: self,
            user_id,
            bytes: 0,
            stored,
        };
        upload.check(length.unwrap_or_default())?;
        Ok(upload)
    }

    /// Returns the size of the stored files of a user and of the tables made of them.
    async fn stored_bytes(&self, user_id: UserId) -> Result<u64, StorageError> {
        let stored = self.storage.stored_bytes(user_id).await?;
        let tables = self.contents.table_bytes(user_id).await?;
        Ok(stored.saturating_add(tables))
    }

    /// Returns true if the files of a user and the tables made of them are within their limit.
    pub(super) async fn is_within_quota(&self, user_id: UserId) -> Result<bool, StorageError> {
        let used = self.used_bytes(user_id, self.stored_bytes(user_id).await?);
        Ok(used <= self.settings.user_bytes as u64)
    }

    /// Returns the size of the stored files and the running uploads of a user.
    fn used_bytes(&self, user_id: UserId, stored: u64) -> u64 {
        let running = self.running_uploads.0.lock().get(&user_id).copied();
        stored.saturating_add(running.unwrap_or_default())
    }
}

impl Files {
    /// Checks that there is room for a file of this size.
    ///
    /// # Errors
    ///
    /// If it exceeds a limit.
    pub async fn check_room(&self, user_id: UserId, bytes: u64) -> Result<(), UploadError> {
        self.0.begin_upload(user_id, Some(bytes)).await?;
        Ok(())
    }

    /// Returns the size of the stored files of a user and of the tables made of them, in bytes.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn stored_bytes(&self, user_id: UserId) -> Result<u64, StorageError> {
        self.0.stored_bytes(user_id).await
    }

    /// Returns the bytes that a user may store beside the stored files and the running uploads.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn free_bytes(&self, user_id: UserId) -> Result<u64, StorageError> {
        let stored = self.0.stored_bytes(user_id).await?;
        Ok((self.0.settings.user_bytes as u64).saturating_sub(self.0.used_bytes(user_id, stored)))
    }
}

impl RunningUpload<'_> {
    /// Counts a chunk that has arrived.
    pub fn add(&mut self, bytes: usize) -> Result<(), UploadError> {
        let limit = self.files.settings.max_bytes;
        if self.bytes.saturating_add(bytes as u64) > limit as u64 {
            return Err(UploadError::TooLarge { limit });
        }
        self.bytes += bytes as u64;
        *self
            .files
            .running_uploads
            .0
            .lock()
            .entry(self.user_id)
            .or_default() += bytes as u64;
        self.check(0)
    }

    /// Checks the limit again, with what other uploads have stored meanwhile.
    pub async fn check_stored(&mut self) -> Result<(), UploadError> {
        self.stored = self.files.stored_bytes(self.user_id).await?;
        self.check(0)
    }

    /// Checks that there is room for so many more bytes.
    fn check(&self, more: u64) -> Result<(), UploadError> {
        let used = self.files.used_bytes(self.user_id, self.stored);
        let limit = self.files.settings.user_bytes;
        match used.saturating_add(more) > limit as u64 {
            true => Err(UploadError::NoRoom {
                used: usize::try_from(self.stored).unwrap_or(usize::MAX),
                limit,
            }),
            false => Ok(()),
        }
    }
}

impl Drop for RunningUpload<'_> {
    fn drop(&mut self) {
        let mut running = self.files.running_uploads.0.lock();
        if let Some(bytes) = running.get_mut(&self.user_id) {
            *bytes = bytes.saturating_sub(self.bytes);
            if *bytes == 0 {
                running.remove(&self.user_id);
            }
        }
    }
}

impl From<StorageError> for UploadError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}
