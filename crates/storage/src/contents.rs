//! The contents of files in the database, where several nodes can read them. The crate `files` decides whether they are there.

use async_trait::async_trait;
use futures::stream::BoxStream;

use super::{FileLocation, StorageError};
use parlor_protocol::Timestamp;

/// The size of the parts of a content, in bytes. The last one is shorter.
pub const CONTENT_PART_BYTES: usize = 1 << 20;

/// The form of a content as it was uploaded or made.
pub const ORIGINAL: &str = "original";

/// A content in one of its forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredContent {
    pub location: FileLocation,
    /// [`ORIGINAL`], `prepared` or `picture`.
    pub form: String,
    pub bytes: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
    pub created_at: Timestamp,
}

/// The contents of files in the database.
#[async_trait]
pub trait ContentStorage {
    /// Stores a content whole, or not at all: from parts of [`CONTENT_PART_BYTES`]. Replaces one of the same name and form.
    ///
    /// # Errors
    ///
    /// If a part can't be read, or storage fails.
    async fn store_content(
        &self,
        content: &StoredContent,
        parts: BoxStream<'_, std::io::Result<Vec<u8>>>,
    ) -> Result<(), StorageError>;

    /// Returns a content without its parts; `None` if there is none.
    async fn content(
        &self,
        location: FileLocation,
        form: &str,
    ) -> Result<Option<StoredContent>, StorageError>;

    /// Returns a part of a content; `None` behind the last one.
    async fn content_part(
        &self,
        location: FileLocation,
        form: &str,
        part: u64,
    ) -> Result<Option<Vec<u8>>, StorageError>;

    /// Deletes a content in all its forms. Has no effect on a missing one.
    async fn delete_content(&self, location: FileLocation) -> Result<(), StorageError>;

    /// Returns all contents without their parts. Damaged rows are left out.
    async fn contents(&self) -> Result<Vec<StoredContent>, StorageError>;
}
