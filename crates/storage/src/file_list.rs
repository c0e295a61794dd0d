//! The list of all files of a user: the queries.

use async_trait::async_trait;

use super::StorageError;
use parlor_protocol::{AttachmentId, ConversationId, FileSort, ListedFile, UserId, file_list::FileCursor};

/// The files that are listed.
#[derive(Clone, Debug, Default)]
pub struct FileListRequest {
    /// Words that the name has, in any order, without case and accents. Empty for all files.
    pub query: String,
    pub sort: FileSort,
    /// The last file of the previous page.
    pub after: Option<FileCursor>,
    pub limit: usize,
}

/// A page of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePage {
    pub files: Vec<ListedFile>,
    /// The number of files that fit the query, on all pages.
    pub total: usize,
    /// The last file of this page, if there are more.
    pub next: Option<FileCursor>,
}

/// The queries about all files of a user.
#[async_trait]
pub trait FileListStorage {
    /// Returns a page of a user's files. Versions of a message and branches share a content, which is listed once.
    async fn listed_files(
        &self,
        user_id: UserId,
        request: &FileListRequest,
    ) -> Result<FilePage, StorageError>;

    /// Returns the conversations with files that share the content of a file, once each.
    async fn conversations_with_file(
        &self,
        user_id: UserId,
        id: AttachmentId,
    ) -> Result<Vec<ConversationId>, StorageError>;
}
