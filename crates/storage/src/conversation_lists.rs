//! The lists of conversations: those that users see, and those that are to be erased.

use async_trait::async_trait;

use crate::StorageError;
use parlor_protocol::{
    ConversationId, ConversationList, MessageId, Timestamp, UserId, conversation_list::ListCursor,
};

/// A deleted conversation that can be restored until it is erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrashedConversation {
    pub user_id: UserId,
    pub conversation_id: ConversationId,
    pub trashed_at: Timestamp,
    /// The run that is active in it, or waits for an answer.
    pub active_run: Option<MessageId>,
}

/// The ages at which conversations are erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry {
    pub now: Timestamp,
    /// The days after which those are erased that are not pinned; 0 for never. Users may have chosen fewer.
    pub days: u32,
    /// The age of temporary ones, in milliseconds.
    pub temporary_ms: i64,
}

/// A conversation that is to be erased, because it had no activity since `before`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpiredConversation {
    pub user_id: UserId,
    pub conversation_id: ConversationId,
    pub before: Timestamp,
    pub reason: ExpiryReason,
}

/// The age that a conversation has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpiryReason {
    /// The age set for temporary conversations.
    Temporary,
    /// The age set by the server.
    Setting,
    /// The age that the user has chosen.
    Choice { days: u32 },
}

/// The queries about lists of conversations.
#[async_trait]
pub trait ConversationListStorage {
    /// Returns a page of a user's conversations: all pinned ones on the first page, then the others, newest activity first.
    async fn conversations(
        &self,
        user_id: UserId,
        before: Option<ListCursor>,
        limit: usize,
    ) -> Result<ConversationList, StorageError>;

    /// Returns a page of a user's archived conversations, newest activity first.
    async fn archived_conversations(
        &self,
        user_id: UserId,
        before: Option<ListCursor>,
        limit: usize,
    ) -> Result<ConversationList, StorageError>;

    /// Returns all of a user's conversations with unseen results.
    async fn unseen_conversations(&self, user_id: UserId) -> Result<Vec<ConversationId>, StorageError>;

    /// Returns true if a conversation of the user is deleted, and not yet erased.
    async fn is_trashed(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<bool, StorageError>;

    /// Returns the deleted conversations of all users that can still be restored, without those with a damaged time of
    /// deletion: they stay hidden.
    async fn trashed_conversations(&self) -> Result<Vec<TrashedConversation>, StorageError>;

    /// Returns some conversations of all users that have reached their age and in which no answer is running; none in the
    /// end, if the returned ones are erased ([`crate::ConversationChange::Expire`]).
    async fn expired_conversations(&self, expiry: Expiry) -> Result<Vec<ExpiredConversation>, StorageError>;

    /// Returns the days after which a user's conversations are erased, if the user has chosen a number; otherwise 0.
    async fn retention_days(&self, user_id: UserId) -> Result<u32, StorageError>;
}
