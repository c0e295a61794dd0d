//! Changes to shares. The log says only that they changed, as with API tokens.

use crate::sql::database::{Connection, query, query_scalar};

use super::{Batch, ChangeError, audit::NewEntry};
use crate::{
    ChangeRejection, Outcome, TokenHash,
    audit::AuditAction,
    shares::{Audience, ShareChange, StoredShare},
};
use parlor_protocol::{ShareId, UserId};

impl Batch<'_> {
    pub(super) async fn change_shares(
        &mut self,
        connection: &mut Connection,
        change: &ShareChange,
    ) -> Result<Outcome, ChangeError> {
        match change {
            ShareChange::Create { share, hash, limit } => {
                self.create_share(connection, share, *hash, *limit).await
            }
            ShareChange::End { user_id, share_id } => self.end_share(connection, *user_id, *share_id).await,
        }
    }

    /// Adds a share. Rejected with `SharesFull` if the user has `limit` already.
    async fn create_share(
        &mut self,
        connection: &mut Connection,
        share: &StoredShare,
        hash: Option<TokenHash>,
        limit: usize,
    ) -> Result<Outcome, ChangeError> {
        let count: i64 = query_scalar("SELECT count(*) FROM shares WHERE user_id = $1")
            .bind_value(share.user_id)
            .fetch_one(&mut *connection)
            .await?;
        if usize::try_from(count).is_ok_and(|count| count >= limit) {
            Err(ChangeRejection::SharesFull)?;
        }
        let snapshot = share.snapshot.as_ref();
        let added = query(
            "INSERT INTO shares (id, user_id, conversation_id, hash, title, leaf_id, leaf_nodes, position, created_at) \
             SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9 WHERE EXISTS \
                 (SELECT 1 FROM conversations WHERE user_id = $2 AND id = $3 AND trashed_at IS NULL)",
        )
        .bind_value(share.id)
        .bind_value(share.user_id)
        .bind_value(share.conversation_id)
        .bind_value(hash)
        .bind(snapshot.map(|snapshot| snapshot.title.as_str()))
        .bind_value(snapshot.map(|snapshot| snapshot.leaf_id))
        .bind(snapshot.map(|snapshot| i64::try_from(snapshot.leaf_nodes).unwrap_or(i64::MAX)))
        .bind_value(snapshot.map(|snapshot| snapshot.position))
        .bind_value(share.created_at)
        .execute(&mut *connection)
        .await?;
        if added.rows_affected() == 0 {
            Err(ChangeRejection::NotFound)?;
        }
        if let Audience::People(readers) = &share.audience {
            for (reader, _) in readers {
                query("INSERT INTO share_readers (share_id, user_id) VALUES ($1, $2)")
                    .bind_value(share.id)
                    .bind_value(reader)
                    .execute(&mut *connection)
                    .await?;
            }
        }
        self.log_settings_changed(connection, share.user_id).await?;
        let entry = NewEntry::by_user(share.user_id, AuditAction::Shared);
        entry.store(connection, self.at).await?;
        Ok(Outcome::Done)
    }

    async fn end_share(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        share_id: ShareId,
    ) -> Result<Outcome, ChangeError> {
        let ended = query("DELETE FROM shares WHERE user_id = $1 AND id = $2")
            .bind_value(user_id)
            .bind_value(share_id)
            .execute(&mut *connection)
            .await?;
        if ended.rows_affected() == 0 {
            Err(ChangeRejection::NotFound)?;
        }
        self.log_settings_changed(connection, user_id).await?;
        let entry = NewEntry::by_user(user_id, AuditAction::ShareEnded);
        entry.store(connection, self.at).await?;
        Ok(Outcome::DataDeleted)
    }
}
