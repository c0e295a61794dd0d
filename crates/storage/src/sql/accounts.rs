//! Queries about accounts, sessions and one-time links.

use crate::sql::database::{Row, query, query_scalar};
use async_trait::async_trait;

use super::{SqlStorage, daily_usage, id, optional_id, read_undamaged_rows, text};
use crate::{
    StorageError, TokenHash,
    accounts::{
        Account, AccountLink, AccountStorage, LinkPurpose, PendingDeletion, ProviderIdentity, Role, Session,
        SignInMethod,
    },
    audit::{AuditAction, AuditEntry},
    damage::skip_damaged,
    usage::{DailyUsage, Day},
};
use parlor_protocol::{MessageId, Timestamp, UserId};

const ACCOUNT_COLUMNS: &str = "a.user_id, a.name, a.role, a.created_at AS account_created_at, a.disabled";

const SESSION_COLUMNS: &str =
    "s.id, s.device, s.address, s.created_at, s.last_used_at, s.idle_ms, s.expires_at, s.method";

const SELECT_LINKS: &str = "SELECT id, user_id, role, created_at, expires_at FROM invitations";

#[async_trait]
impl AccountStorage for SqlStorage {
    async fn has_accounts(&self) -> Result<bool, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let found = query_scalar("SELECT EXISTS (SELECT 1 FROM accounts)");
        Ok(found.fetch_one(&mut connection).await?)
    }

    async fn accounts(&self) -> Result<Vec<Account>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let sql = format!("SELECT {ACCOUNT_COLUMNS} FROM accounts a ORDER BY a.name");
        let rows = query(sql).fetch_all(&mut connection).await?;
        read_undamaged_rows("accounts", "user_id", &rows, read_account)
    }

    async fn account(&self, user_id: UserId) -> Result<Option<Account>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let sql = format!("SELECT {ACCOUNT_COLUMNS} FROM accounts a WHERE a.user_id = $1");
        let row = query(sql)
            .bind_value(user_id)
            .fetch_optional(&mut connection)
            .await?;
        let Some(row) = row else { return Ok(None) };
        skip_damaged("accounts", user_id, read_account(&row))
    }

    async fn account_by_name(&self, name: &str) -> Result<Option<(Account, Option<String>)>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let sql = format!("SELECT {ACCOUNT_COLUMNS}, a.password FROM accounts a WHERE a.name = $1");
        let row = query(sql).bind(name).fetch_optional(&mut connection).await?;
        let Some(row) = row else { return Ok(None) };
        let read = || Ok((read_account(&row)?, row.try_get("password")?));
        skip_damaged("accounts", text(&row, "user_id")?, read())
    }

    async fn account_by_identity(
        &self,
        identity: &ProviderIdentity,
    ) -> Result<Option<Account>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let sql = format!(
            "SELECT {ACCOUNT_COLUMNS} FROM identities i JOIN accounts a ON a.user_id = i.user_id WHERE i.issuer = $1 AND i.subject = $2"
        );
        let row = query(sql)
            .bind(&identity.issuer)
            .bind(&identity.subject)
            .fetch_optional(&mut connection)
            .await?;
        let Some(row) = row else { return Ok(None) };
        skip_damaged("accounts", text(&row, "user_id")?, read_account(&row))
    }

    async fn session(&self, hash: &TokenHash) -> Result<Option<(Account, Session)>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let sql = format!(
            "SELECT {ACCOUNT_COLUMNS}, {SESSION_COLUMNS} FROM sessions s JOIN accounts a ON a.user_id = s.user_id WHERE s.hash = $1"
        );
        let row = query(sql)
            .bind_value(hash)
            .fetch_optional(&mut connection)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let read = || Ok((read_account(&row)?, read_session(&row)?));
        skip_damaged("sessions", text(&row, "id")?, read())
    }

    async fn sessions(&self, user_id: UserId) -> Result<Vec<Session>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let sql = format!("SELECT {SESSION_COLUMNS} FROM sessions s WHERE s.user_id = $1 ORDER BY s.id DESC");
        let rows = query(sql).bind_value(user_id).fetch_all(&mut connection).await?;
        read_undamaged_rows("sessions", "id", &rows, read_session)
    }

    async fn account_link(&self, hash: &TokenHash) -> Result<Option<AccountLink>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let row = query(format!("{SELECT_LINKS} WHERE hash = $1"))
            .bind_value(hash)
            .fetch_optional(&mut connection)
            .await?;
        let Some(row) = row else { return Ok(None) };
        skip_damaged("invitations", text(&row, "id")?, read_link(&row))
    }

    async fn audit_log(&self, before: Option<i64>, limit: usize) -> Result<Vec<AuditEntry>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = query(
            "SELECT id, CAST(id AS TEXT) AS named, at, name, action, about, address FROM audit_log WHERE id < $1 ORDER BY id DESC LIMIT $2",
        )
        .bind(before.unwrap_or(i64::MAX))
        .bind_value(limit)
        .fetch_all(&mut connection)
        .await?;
        // A number that was read as a text is none any more.
        read_undamaged_rows("audit_log", "named", &rows, read_audit_entry)
    }

    async fn pending_deletions(&self) -> Result<Vec<PendingDeletion>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = query("SELECT user_id, heir, actor, address FROM pending_deletions ORDER BY user_id")
            .fetch_all(&mut connection)
            .await?;
        let read = |row: &Row| {
            Ok(PendingDeletion {
                user_id: id(row, "user_id")?,
                heir: optional_id(row, "heir")?,
                actor: id(row, "actor")?,
                address: text(row, "address")?,
            })
        };
        read_undamaged_rows("pending_deletions", "user_id", &rows, read)
    }

    async fn active_runs(&self, user_id: UserId) -> Result<Vec<MessageId>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = query("SELECT id FROM runs WHERE user_id = $1 AND status IN ('running', 'waiting')")
            .bind_value(user_id)
            .fetch_all(&mut connection)
            .await?;
        read_undamaged_rows("runs", "id", &rows, |row| id(row, "id"))
    }

    async fn daily_usage(
        &self,
        user_id: Option<UserId>,
        since: Day,
    ) -> Result<Vec<DailyUsage>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        daily_usage::daily_usage(&mut connection, user_id, since).await
    }

    async fn account_links(&self) -> Result<Vec<AccountLink>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let sql = format!("{SELECT_LINKS} ORDER BY id DESC");
        let rows = query(sql).fetch_all(&mut connection).await?;
        read_undamaged_rows("invitations", "id", &rows, read_link)
    }
}

fn time(row: &Row, column: &str) -> Result<Timestamp, StorageError> {
    Ok(Timestamp(row.try_get(column)?))
}

fn read_account(row: &Row) -> Result<Account, StorageError> {
    Ok(Account {
        user_id: id(row, "user_id")?,
        name: row.try_get("name")?,
        role: Role::from_name(&row.try_get::<String>("role")?),
        created_at: time(row, "account_created_at")?,
        is_disabled: row.try_get::<i64>("disabled")? != 0,
    })
}

fn read_session(row: &Row) -> Result<Session, StorageError> {
    Ok(Session {
        id: id(row, "id")?,
        device: text(row, "device")?,
        address: text(row, "address")?,
        created_at: time(row, "created_at")?,
        last_used_at: time(row, "last_used_at")?,
        idle_ms: row.try_get("idle_ms")?,
        expires_at: time(row, "expires_at")?,
        method: SignInMethod::from_name(&row.try_get::<String>("method")?)
            .ok_or_else(|| sqlx::Error::Decode("an unknown method of signing in".into()))?,
    })
}

fn read_audit_entry(row: &Row) -> Result<AuditEntry, StorageError> {
    Ok(AuditEntry {
        id: row.try_get("id")?,
        at: time(row, "at")?,
        name: text(row, "name")?,
        action: AuditAction::from_name(&row.try_get::<String>("action")?)
            .ok_or_else(|| sqlx::Error::Decode("an unknown action".into()))?,
        about: text(row, "about")?,
        address: text(row, "address")?,
    })
}

fn read_link(row: &Row) -> Result<AccountLink, StorageError> {
    let purpose = match optional_id(row, "user_id")? {
        Some(user_id) => LinkPurpose::NewPassword(user_id),
        None => LinkPurpose::Invitation(Role::from_name(&row.try_get::<String>("role")?)),
    };
    Ok(AccountLink {
        id: id(row, "id")?,
        purpose,
        created_at: time(row, "created_at")?,
        expires_at: time(row, "expires_at")?,
    })
}
