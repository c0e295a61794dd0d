//! Reads lists of conversations.

use async_trait::async_trait;

use super::{SqlStorage, expired, queries};
use crate::{ConversationListStorage, ExpiredConversation, Expiry, StorageError, TrashedConversation};
use parlor_protocol::{ConversationId, ConversationList, UserId, conversation_list::ListCursor};

#[async_trait]
impl ConversationListStorage for SqlStorage {
    async fn conversations(
        &self,
        user_id: UserId,
        before: Option<ListCursor>,
        limit: usize,
    ) -> Result<ConversationList, StorageError> {
        let mut tx = self.readers.begin().await?;
        queries::conversations(&mut tx, user_id, false, before, limit).await
    }

    async fn archived_conversations(
        &self,
        user_id: UserId,
        before: Option<ListCursor>,
        limit: usize,
    ) -> Result<ConversationList, StorageError> {
        let mut tx = self.readers.begin().await?;
        queries::conversations(&mut tx, user_id, true, before, limit).await
    }

    async fn unseen_conversations(&self, user_id: UserId) -> Result<Vec<ConversationId>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        queries::unseen_conversations(&mut connection, user_id).await
    }

    async fn expired_conversations(&self, expiry: Expiry) -> Result<Vec<ExpiredConversation>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        expired::expired_conversations(&mut connection, expiry).await
    }

    async fn retention_days(&self, user_id: UserId) -> Result<u32, StorageError> {
        let mut connection = self.readers.acquire().await?;
        expired::retention_days(&mut connection, user_id).await
    }

    async fn is_trashed(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<bool, StorageError> {
        let mut connection = self.readers.acquire().await?;
        queries::is_trashed(&mut connection, user_id, conversation_id).await
    }

    async fn trashed_conversations(&self) -> Result<Vec<TrashedConversation>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        queries::trashed_conversations(&mut connection).await
    }
}
