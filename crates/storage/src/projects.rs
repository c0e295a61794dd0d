//! Projects: the changes and the queries.

use async_trait::async_trait;

use super::StorageError;
use parlor_protocol::{
    ConversationList, ListedProject, Project, ProjectConversations, ProjectId, Timestamp, UserId,
    conversation_list::ListCursor,
};

/// A change of a user's projects.
#[derive(Clone, Debug)]
pub enum ProjectChange {
    /// Saves a project, if there are fewer than `limit`, or replaces a saved one.
    Save {
        id: ProjectId,
        project: Box<Project>,
        limit: usize,
    },
    /// Deletes a project. Its conversations leave it, and are deleted at `deleted_at` if asked.
    Delete {
        id: ProjectId,
        conversations: ProjectConversations,
        deleted_at: Timestamp,
    },
}

/// The queries about projects.
#[async_trait]
pub trait ProjectStorage {
    /// Returns the projects of a user, oldest first.
    async fn projects(&self, user_id: UserId) -> Result<Vec<ListedProject>, StorageError>;

    /// Returns a project of a user.
    async fn project(&self, user_id: UserId, id: ProjectId) -> Result<Option<ListedProject>, StorageError>;

    /// Returns a page of the conversations of a user's project, without archived ones: all pinned ones on the first page, then
    /// the others, newest activity first.
    async fn project_conversations(
        &self,
        user_id: UserId,
        id: ProjectId,
        before: Option<ListCursor>,
        limit: usize,
    ) -> Result<ConversationList, StorageError>;
}
