//! Projects: the changes and the queries.

use async_trait::async_trait;

use super::{SearchRequest, StorageError, StoredFile};
use parlor_protocol::{
    AttachmentId, ConversationId, ConversationList, ListedProject, Memory, Position, Project,
    ProjectConversations, ProjectId, ProjectReader, SharedChat, SharedProject, Timestamp, UserId,
    conversation_list::ListCursor,
};

/// A change of a user's projects.
#[derive(Clone, Debug)]
pub enum ProjectChange {
    /// Saves a project, if there are fewer than `limit`, or replaces a saved one: only this version of it, if one is named.
    Save {
        id: ProjectId,
        project: Box<Project>,
        replaces: Option<Box<Project>>,
        limit: usize,
    },
    /// Stores a file of a project, if it has fewer than `limit`. Its content is in the data folder. The name gets a number if
    /// another file of the project has it.
    AddFile {
        project_id: ProjectId,
        file: Box<StoredFile>,
        limit: usize,
    },
    /// Lets other people read a project, if it then has at most `limit` readers, and each of them at most `limit_shared` projects
    /// of others. One who may read it already has no effect.
    AddReaders {
        id: ProjectId,
        readers: Vec<UserId>,
        limit: usize,
        limit_shared: usize,
    },
    /// Ends the right of a person to read a project. One who has none has no effect.
    RemoveReader { id: ProjectId, reader: UserId },
    /// Ends the right of the user to read another's project.
    Leave { id: ProjectId },
    /// Deletes a file of a project.
    DeleteFile { project_id: ProjectId, id: AttachmentId },
    /// Deletes a project with its files. Its conversations leave it, and are deleted at `deleted_at` if asked.
    Delete {
        id: ProjectId,
        conversations: ProjectConversations,
        deleted_at: Timestamp,
    },
}

/// A project as its conversations use it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectInUse {
    pub id: ProjectId,
    pub project: Project,
    /// The files, oldest first.
    pub files: Vec<StoredFile>,
}

/// A memory as a conversation is given it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenMemory {
    pub memory: Memory,
    /// True for one of the conversation's project, false for one of the user.
    pub is_of_project: bool,
}

/// The part of another's project that a person may read.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedProjectPage {
    /// The last position of the reader's log.
    pub as_of: Position,
    pub listed: SharedProject,
    pub instructions: String,
    /// The files, oldest first.
    pub files: Vec<StoredFile>,
    /// A page of the conversations, newest activity first.
    pub conversations: Vec<SharedChat>,
    /// The place of the next page; `None` on the last one.
    pub next: Option<ListCursor>,
}

/// A passage of a file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPassage {
    pub file_id: AttachmentId,
    /// The number of the passage in the file's text, from 1 ([`passages::ranges`](super::search::passages::ranges)); 0 is the
    /// file's name.
    pub passage: usize,
}

/// The queries about projects.
#[async_trait]
pub trait ProjectStorage {
    /// Returns the projects of a user, oldest first.
    async fn projects(&self, user_id: UserId) -> Result<Vec<ListedProject>, StorageError>;

    /// Returns a project of a user.
    async fn project(&self, user_id: UserId, id: ProjectId) -> Result<Option<ListedProject>, StorageError>;

    /// Returns the files of a user's project, oldest first.
    async fn project_files(&self, user_id: UserId, id: ProjectId) -> Result<Vec<StoredFile>, StorageError>;

    /// Returns the memories of a user's project, newest first.
    async fn project_memories(&self, user_id: UserId, id: ProjectId) -> Result<Vec<Memory>, StorageError>;

    /// Returns the memories that a user's conversation is given, newest first: those of the user, and those of its project.
    async fn memories_for(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Vec<GivenMemory>, StorageError>;

    /// Returns the project of a user's conversation; `None` if it is in none.
    async fn project_of(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Option<ProjectInUse>, StorageError>;

    /// Searches the texts of a project's files. Returns the best passages first, several of a file.
    async fn search_project_files(
        &self,
        user_id: UserId,
        id: ProjectId,
        request: &SearchRequest,
    ) -> Result<Vec<FoundPassage>, StorageError>;

    /// Returns the files of a user's project whose texts are not indexed yet.
    async fn unindexed_project_files(
        &self,
        user_id: UserId,
        id: ProjectId,
    ) -> Result<Vec<AttachmentId>, StorageError>;

    /// Returns a page of the conversations of a user's project, without archived ones: all pinned ones on the first page, then
    /// the others, newest activity first.
    async fn project_conversations(
        &self,
        user_id: UserId,
        id: ProjectId,
        before: Option<ListCursor>,
        limit: usize,
    ) -> Result<ConversationList, StorageError>;

    /// Returns the people who may read a user's project, by name.
    async fn project_readers(
        &self,
        user_id: UserId,
        id: ProjectId,
    ) -> Result<Vec<ProjectReader>, StorageError>;

    /// Returns the projects of others that a person may read, those shared last at the end. Those of disabled accounts are left out.
    async fn shared_projects(&self, reader: UserId) -> Result<Vec<SharedProject>, StorageError>;

    /// Returns what a person may read of another's project: all but the conversations of further pages. `before` is the activity
    /// of the last conversation on the previous page.
    async fn shared_project(
        &self,
        reader: UserId,
        id: ProjectId,
        before: Option<ListCursor>,
        limit: usize,
    ) -> Result<Option<SharedProjectPage>, StorageError>;

    /// Returns a file of another's project that a person may read.
    async fn shared_project_file(
        &self,
        reader: UserId,
        id: ProjectId,
        file_id: AttachmentId,
    ) -> Result<Option<StoredFile>, StorageError>;
}
