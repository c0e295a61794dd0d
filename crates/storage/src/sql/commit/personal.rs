//! Changes to a user's own settings and API tokens. No conversation shows them, so the log says only that
//! they changed: the settings page loads them on request.

use crate::sql::database::{Connection, query, query_scalar};

use super::{Batch, ChangeError};
use crate::{ChangeRejection, Outcome, StorageError, TokenHash};
use parlor_protocol::{ApiToken, ConversationId, TokenId, UserEvent, UserId};

impl Batch<'_> {
    pub(super) async fn set_instructions(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        text: &str,
    ) -> Result<Outcome, ChangeError> {
        ensure_user(connection, user_id).await?;
        query(
            "INSERT INTO instructions (user_id, text) VALUES ($1, $2) ON CONFLICT (user_id) DO UPDATE SET text = excluded.text",
        )
        .bind_value(user_id)
        .bind(text)
        .execute(&mut *connection)
        .await?;
        self.log_settings_changed(connection, user_id).await?;
        // The overwritten instructions count as deleted data.
        Ok(Outcome::DataDeleted)
    }

    pub(super) async fn set_chat_search(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        is_on: bool,
    ) -> Result<Outcome, ChangeError> {
        ensure_user(connection, user_id).await?;
        let set = match is_on {
            true => "INSERT INTO chat_search (user_id) VALUES ($1) ON CONFLICT DO NOTHING",
            false => "DELETE FROM chat_search WHERE user_id = $1",
        };
        query(set).bind_value(user_id).execute(&mut *connection).await?;
        self.log_settings_changed(connection, user_id).await?;
        Ok(Outcome::Done)
    }

    pub(super) async fn set_retention(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        days: u32,
    ) -> Result<Outcome, ChangeError> {
        ensure_user(connection, user_id).await?;
        query("DELETE FROM retention WHERE user_id = $1")
            .bind_value(user_id)
            .execute(&mut *connection)
            .await?;
        if days > 0 {
            query("INSERT INTO retention (user_id, days) VALUES ($1, $2)")
                .bind_value(user_id)
                .bind(i64::from(days))
                .execute(&mut *connection)
                .await?;
        }
        self.log_settings_changed(connection, user_id).await?;
        Ok(Outcome::Done)
    }

    pub(super) async fn set_seen_version(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        version: &str,
    ) -> Result<Outcome, ChangeError> {
        ensure_user(connection, user_id).await?;
        query("UPDATE users SET seen_version = $1 WHERE id = $2")
            .bind(version)
            .bind_value(user_id)
            .execute(&mut *connection)
            .await?;
        self.log_settings_changed(connection, user_id).await?;
        Ok(Outcome::Done)
    }

    /// Adds a token. Rejected with `TokensFull` if the user has `limit` already.
    pub(super) async fn add_token(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        token: &ApiToken,
        hash: &TokenHash,
        limit: usize,
    ) -> Result<Outcome, ChangeError> {
        ensure_user(connection, user_id).await?;
        let count: i64 = query_scalar("SELECT count(*) FROM api_tokens WHERE user_id = $1")
            .bind_value(user_id)
            .fetch_one(&mut *connection)
            .await?;
        if usize::try_from(count).is_ok_and(|count| count >= limit) {
            Err(ChangeRejection::TokensFull)?;
        }
        query(
            "INSERT INTO api_tokens (id, user_id, name, hash, beginning, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind_value(token.id)
        .bind_value(user_id)
        .bind(&token.name)
        .bind_value(hash)
        .bind(&token.beginning)
        .bind_value(token.created_at)
        .bind_value(token.expires_at)
        .execute(&mut *connection)
        .await?;
        self.log_settings_changed(connection, user_id).await?;
        Ok(Outcome::Done)
    }

    pub(super) async fn revoke_token(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        token_id: TokenId,
    ) -> Result<Outcome, ChangeError> {
        let revoked = query("DELETE FROM api_tokens WHERE user_id = $1 AND id = $2")
            .bind_value(user_id)
            .bind_value(token_id)
            .execute(&mut *connection)
            .await?;
        if revoked.rows_affected() == 0 {
            Err(ChangeRejection::NotFound)?;
        }
        self.log_settings_changed(connection, user_id).await?;
        Ok(Outcome::DataDeleted)
    }

    /// Records that a token was used just now. Logs no event: it would be one every minute.
    pub(super) async fn record_token_use(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        token_id: TokenId,
    ) -> Result<Outcome, ChangeError> {
        query("UPDATE api_tokens SET last_used_at = $1 WHERE user_id = $2 AND id = $3")
            .bind_value(self.at)
            .bind_value(user_id)
            .bind_value(token_id)
            .execute(connection)
            .await?;
        Ok(Outcome::Done)
    }

    pub(super) async fn log_settings_changed(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
    ) -> Result<(), StorageError> {
        let event = UserEvent::SettingsChanged;
        self.log_event(connection, user_id, ConversationId::NONE, None, event)
            .await?;
        Ok(())
    }
}

/// Creates the user and their log, if they do not exist. For a new user, nothing of this version is news.
pub(super) async fn ensure_user(connection: &mut Connection, user_id: UserId) -> Result<(), StorageError> {
    query("INSERT INTO users (id, position, seen_version) VALUES ($1, 0, $2) ON CONFLICT DO NOTHING")
        .bind_value(user_id)
        .bind(env!("CARGO_PKG_VERSION"))
        .execute(connection)
        .await?;
    Ok(())
}
