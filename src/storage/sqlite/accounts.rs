//! Queries about accounts, sessions and one-time links.

use async_trait::async_trait;
use sqlx::{Row, sqlite::SqliteRow};

use super::{SqliteStorage, id, optional_id, read_undamaged_rows, text};
use crate::{
    protocol::{Timestamp, UserId},
    storage::{
        StorageError, TokenHash,
        accounts::{Account, AccountLink, AccountStorage, LinkPurpose, Role, Session},
        damage::skip_damaged,
    },
};

const ACCOUNT_COLUMNS: &str = "a.user_id, a.name, a.role, a.created_at AS account_created_at, a.disabled";

const SESSION_COLUMNS: &str =
    "s.id, s.device, s.address, s.created_at, s.last_used_at, s.idle_ms, s.expires_at";

const SELECT_LINKS: &str = "SELECT id, user_id, role, created_at, expires_at FROM invitations";

#[async_trait]
impl AccountStorage for SqliteStorage {
    async fn has_accounts(&self) -> Result<bool, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let found = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM accounts)");
        Ok(found.fetch_one(&mut *connection).await?)
    }

    async fn accounts(&self) -> Result<Vec<Account>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let sql = format!("SELECT {ACCOUNT_COLUMNS} FROM accounts a ORDER BY a.name");
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .fetch_all(&mut *connection)
            .await?;
        read_undamaged_rows("accounts", "user_id", &rows, read_account)
    }

    async fn account(&self, user_id: UserId) -> Result<Option<Account>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let sql = format!("SELECT {ACCOUNT_COLUMNS} FROM accounts a WHERE a.user_id = ?");
        let row = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(user_id.to_string())
            .fetch_optional(&mut *connection)
            .await?;
        let Some(row) = row else { return Ok(None) };
        skip_damaged("accounts", user_id, read_account(&row))
    }

    async fn account_by_name(&self, name: &str) -> Result<Option<(Account, Option<String>)>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let sql = format!("SELECT {ACCOUNT_COLUMNS}, a.password FROM accounts a WHERE a.name = ?");
        let row = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(name)
            .fetch_optional(&mut *connection)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let read = || Ok((read_account(&row)?, row.try_get("password")?));
        skip_damaged("accounts", text(&row, "user_id")?, read())
    }

    async fn session(&self, hash: &TokenHash) -> Result<Option<(Account, Session)>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let sql = format!(
            "SELECT {ACCOUNT_COLUMNS}, {SESSION_COLUMNS} FROM sessions s JOIN accounts a ON a.user_id = s.user_id WHERE s.hash = ?"
        );
        let row = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(hash.0.as_slice())
            .fetch_optional(&mut *connection)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let read = || Ok((read_account(&row)?, read_session(&row)?));
        skip_damaged("sessions", text(&row, "id")?, read())
    }

    async fn sessions(&self, user_id: UserId) -> Result<Vec<Session>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let sql = format!("SELECT {SESSION_COLUMNS} FROM sessions s WHERE s.user_id = ? ORDER BY s.id DESC");
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(user_id.to_string())
            .fetch_all(&mut *connection)
            .await?;
        read_undamaged_rows("sessions", "id", &rows, read_session)
    }

    async fn account_link(&self, hash: &TokenHash) -> Result<Option<AccountLink>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let row = sqlx::query(sqlx::AssertSqlSafe(format!("{SELECT_LINKS} WHERE hash = ?")))
            .bind(hash.0.as_slice())
            .fetch_optional(&mut *connection)
            .await?;
        let Some(row) = row else { return Ok(None) };
        skip_damaged("invitations", text(&row, "id")?, read_link(&row))
    }

    async fn account_links(&self) -> Result<Vec<AccountLink>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let sql = format!("{SELECT_LINKS} ORDER BY id DESC");
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .fetch_all(&mut *connection)
            .await?;
        read_undamaged_rows("invitations", "id", &rows, read_link)
    }
}

fn time(row: &SqliteRow, column: &str) -> Result<Timestamp, StorageError> {
    Ok(Timestamp(row.try_get(column)?))
}

fn read_account(row: &SqliteRow) -> Result<Account, StorageError> {
    Ok(Account {
        user_id: id(row, "user_id")?,
        name: row.try_get("name")?,
        role: Role::from_name(row.try_get("role")?),
        created_at: time(row, "account_created_at")?,
        is_disabled: row.try_get::<i64, _>("disabled")? != 0,
    })
}

fn read_session(row: &SqliteRow) -> Result<Session, StorageError> {
    Ok(Session {
        id: id(row, "id")?,
        device: text(row, "device")?,
        address: text(row, "address")?,
        created_at: time(row, "created_at")?,
        last_used_at: time(row, "last_used_at")?,
        idle_ms: row.try_get("idle_ms")?,
        expires_at: time(row, "expires_at")?,
    })
}

fn read_link(row: &SqliteRow) -> Result<AccountLink, StorageError> {
    let purpose = match optional_id(row, "user_id")? {
        Some(user_id) => LinkPurpose::NewPassword(user_id),
        None => LinkPurpose::Invitation(Role::from_name(row.try_get("role")?)),
    };
    Ok(AccountLink {
        id: id(row, "id")?,
        purpose,
        created_at: time(row, "created_at")?,
        expires_at: time(row, "expires_at")?,
    })
}
