//! Disabling accounts, the rule that an administrator who can sign in remains, and the end of links with their maker's role.

use crate::sql::database::{Connection, query};

use super::{
    ChangeError,
    accounts::{end_sessions, require_row},
};
use crate::{ChangeRejection, Outcome, audit::SignInWay};
use parlor_protocol::UserId;

/// Disables an account, whose row may be damaged. An update checks the types of all columns, so all are set.
const DISABLE: &str = "UPDATE accounts SET disabled = 1, name = coalesce(CAST(name AS TEXT), user_id), \
         password = CAST(password AS TEXT), role = coalesce(CAST(role AS TEXT), 'member'), \
         created_at = CAST(coalesce(created_at, 0) AS BIGINT) WHERE user_id = $1";

/// Disables an account, which ends its sessions.
pub(super) async fn disable(
    connection: &mut Connection,
    user_id: UserId,
    way: Option<&SignInWay>,
) -> Result<Outcome, ChangeError> {
    keep_administrator(&mut *connection, user_id, way).await?;
    end_sessions(&mut *connection, user_id, None).await?;
    let disabled = query(DISABLE).bind_value(user_id).execute(connection).await?;
    require_row(disabled.rows_affected())
}

/// Ends the links of everybody who is no enabled administrator. Runs after each change of accounts, so that no link outlives
/// the role of its maker, however that ended. Returns the number of these links.
pub(super) async fn end_links_of_others(connection: &mut Connection) -> Result<u64, ChangeError> {
    let ended = query(
        "DELETE FROM invitations WHERE made_by IS NOT NULL AND NOT EXISTS \
         (SELECT 1 FROM accounts a WHERE a.user_id = made_by AND a.role = 'administrator' AND a.disabled = 0)",
    )
    .execute(connection)
    .await?;
    Ok(ended.rows_affected())
}

/// The administrators who can sign in: with a password (`$2`), or at the provider with an issuer (`$3`), or in any way.
const COUNT_ADMINISTRATORS: &str = "SELECT count(*) FILTER (WHERE user_id = $1) AS own, count(*) FILTER (WHERE user_id <> $1) AS others \
     FROM accounts a WHERE role = 'administrator' AND disabled = 0 AND ($2 = 0 OR password IS NOT NULL) \
         AND ($3 IS NULL OR EXISTS (SELECT 1 FROM identities i WHERE i.user_id = a.user_id AND i.issuer = $3))";

/// Rejects a change after which no administrator could sign in.
pub(super) async fn keep_administrator(
    connection: &mut Connection,
    user_id: UserId,
    way: Option<&SignInWay>,
) -> Result<(), ChangeError> {
    let issuer = match way {
        Some(SignInWay::Provider { issuer }) => Some(issuer.as_str()),
        Some(SignInWay::Password | SignInWay::Proxy) | None => None,
    };
    let row = query(COUNT_ADMINISTRATORS)
        .bind_value(user_id)
        .bind(way == Some(&SignInWay::Password))
        .bind(issuer)
        .fetch_one(connection)
        .await?;
    let count = |column| row.try_get::<i64>(column);
    if count("own")? > 0 && count("others")? == 0 {
        Err(ChangeRejection::LastAdministrator)?;
    }
    Ok(())
}
