//! Shares: conversations that others may read. The stored types, the changes and the queries.

use async_trait::async_trait;

use super::{PageSize, StorageError, StoredFile, TokenHash};
use parlor_protocol::{
    AttachmentId, ConversationId, MessageId, Payload, Position, ProjectId, ShareId, Timestamp, Transcript,
    UserId,
};

/// A share of a conversation. One that is shared with its project has no row: it begins and ends with the right to read that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredShare {
    pub id: ShareId,
    /// The owner.
    pub user_id: UserId,
    pub conversation_id: ConversationId,
    pub audience: Audience,
    /// The part that is shared; `None` if the share is live.
    pub snapshot: Option<Snapshot>,
    pub created_at: Timestamp,
}

/// The people who may read a share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Anyone who has the link.
    Link,
    /// The users of these accounts, with their names.
    People(Vec<(UserId, String)>),
    /// The readers of the project in which the conversation is.
    Project(ProjectId),
}

/// The part of a conversation that was there when it was shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub title: String,
    /// The last message. Those before it no longer change.
    pub leaf_id: MessageId,
    /// The number of nodes of that message, which may be an answer that is continued later.
    pub leaf_nodes: usize,
    /// The last event of the owner's log at that time.
    pub position: Position,
}

/// A change to shares.
#[derive(Clone, Debug)]
pub enum ShareChange {
    /// Adds a share, if the user has fewer than `limit`. A link has a hash.
    Create {
        share: StoredShare,
        hash: Option<TokenHash>,
        limit: usize,
    },
    /// Ends a share.
    End { user_id: UserId, share_id: ShareId },
}

/// The queries about shares. Those about the content of a share take the share itself, which a reader has been allowed to
/// read; they return nothing outside of its branch.
#[async_trait]
pub trait ShareStorage {
    /// Returns the shares of a user, newest first.
    async fn shares(&self, user_id: UserId) -> Result<Vec<StoredShare>, StorageError>;

    /// Returns the share whose link has this hash.
    async fn share_by_link(&self, hash: &TokenHash) -> Result<Option<StoredShare>, StorageError>;

    /// Returns the share with people by name that a user owns or may read.
    async fn share_of_reader(
        &self,
        share_id: ShareId,
        reader: UserId,
    ) -> Result<Option<StoredShare>, StorageError>;

    /// Returns a conversation as the live share that it is for a reader of its project. Its id is that of the conversation.
    async fn share_of_project(
        &self,
        conversation_id: ConversationId,
        reader: UserId,
    ) -> Result<Option<StoredShare>, StorageError>;

    /// Returns the newest messages of the shared branch; with `before`, back to the page that leads up to that message.
    async fn shared_transcript(
        &self,
        share: &StoredShare,
        page: PageSize,
        before: Option<MessageId>,
    ) -> Result<Option<Transcript>, StorageError>;

    /// Returns a file of a message of the shared branch.
    async fn shared_file(
        &self,
        share: &StoredShare,
        id: AttachmentId,
    ) -> Result<Option<StoredFile>, StorageError>;

    /// Returns a payload that the model wrote into an answer of the shared branch.
    async fn shared_payload(
        &self,
        share: &StoredShare,
        payload_id: &str,
    ) -> Result<Option<Payload>, StorageError>;
}
