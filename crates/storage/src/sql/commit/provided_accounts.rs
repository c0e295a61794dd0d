//! Accounts of users whom an OpenID provider authenticates.

use crate::sql::database::{Connection, query, query_scalar};

use super::{ChangeError, accounts::require_row, personal::ensure_user};
use crate::{
    ChangeRejection, Outcome,
    accounts::{ProviderIdentity, Role},
};
use parlor_protocol::{Timestamp, UserId};

/// Makes an account, if neither its name nor its identity has one.
pub(super) async fn create(
    connection: &mut Connection,
    at: Timestamp,
    (user_id, name, role): (UserId, &str, Option<Role>),
    identity: &ProviderIdentity,
) -> Result<Outcome, ChangeError> {
    let is_first: bool = query_scalar("SELECT NOT EXISTS (SELECT 1 FROM accounts)")
        .fetch_one(&mut *connection)
        .await?;
    let role = role.unwrap_or(if is_first {
        Role::Administrator
    } else {
        Role::Member
    });
    ensure_user(connection, user_id).await?;
    let created = query(
        "INSERT INTO accounts (user_id, name, role, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
    )
    .bind_value(user_id)
    .bind(name)
    .bind_value(role)
    .bind_value(at)
    .execute(&mut *connection)
    .await?;
    if created.rows_affected() == 0 {
        Err(ChangeRejection::NameTaken)?;
    }
    let identified = query(
        "INSERT INTO identities (issuer, subject, user_id, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
    )
    .bind(&identity.issuer)
    .bind(&identity.subject)
    .bind_value(user_id)
    .bind_value(at)
    .execute(connection)
    .await?;
    // Another request has made this user's account meanwhile. The savepoint takes this one back.
    if identified.rows_affected() == 0 {
        Err(ChangeRejection::NameTaken)?;
    }
    Ok(Outcome::Done)
}

pub(super) async fn rename(
    connection: &mut Connection,
    user_id: UserId,
    name: &str,
) -> Result<Outcome, ChangeError> {
    let is_taken: bool =
        query_scalar("SELECT EXISTS (SELECT 1 FROM accounts WHERE name = $1 AND user_id <> $2)")
            .bind(name)
            .bind_value(user_id)
            .fetch_one(&mut *connection)
            .await?;
    if is_taken {
        Err(ChangeRejection::NameTaken)?;
    }
    let renamed = query("UPDATE accounts SET name = $1 WHERE user_id = $2")
        .bind(name)
        .bind_value(user_id)
        .execute(connection)
        .await?;
    require_row(renamed.rows_affected())
}
