//! The entries of the audit log. Each is committed with what it tells.

use crate::sql::database::{Connection, query};

use super::{super::text, ChangeError};
use crate::{
    accounts::{AccountChange, FailedAttempt, LinkPurpose, Role},
    audit::{Actor, AuditAction},
};
use parlor_protocol::{Timestamp, UserId};

/// An entry before its change is applied, while the accounts in it still exist.
pub(super) struct NewEntry {
    user_id: Option<UserId>,
    name: Option<String>,
    action: AuditAction,
    about: String,
    address: String,
}

impl NewEntry {
    /// Returns the entry of a change; none if it is not worth one.
    pub(super) async fn from_change(
        connection: &mut Connection,
        change: &AccountChange,
        by: Option<&Actor>,
    ) -> Result<Option<Self>, ChangeError> {
        let Some((action, about, address)) = describe(change) else {
            return Ok(None);
        };
        let mut about_name = match about {
            Some(user_id) => load_name(connection, user_id).await?,
            None => None,
        };
        if let AccountChange::Delete { heir: Some(heir), .. } = change {
            let names = (
                about_name.unwrap_or_default(),
                load_name(connection, *heir).await?,
            );
            about_name = Some(format!("{} to {}", names.0, names.1.unwrap_or_default()));
        }
        let Some(actor) = by else {
            let (user_id, name, about) = match change {
                // `parlor new-password`: nobody is signed in at the machine.
                AccountChange::AddLink { .. } => (None, None, about_name.unwrap_or_default()),
                AccountChange::Rename { name, .. } => (about, about_name, name.clone()),
                // The users themselves.
                _ => (about, about_name, String::new()),
            };
            return Ok(Some(Self {
                user_id,
                name,
                action,
                about,
                address: address.to_owned(),
            }));
        };
        Ok(Some(Self {
            user_id: Some(actor.user_id),
            name: load_name(connection, actor.user_id).await?,
            action,
            about: about_name.unwrap_or_default(),
            address: actor.address.clone(),
        }))
    }

    /// Creates the entry of a user's action.
    pub(super) fn by_user(user_id: UserId, action: AuditAction) -> Self {
        Self {
            user_id: Some(user_id),
            name: None,
            action,
            about: String::new(),
            address: String::new(),
        }
    }

    /// Names what the action was on, such as a model server.
    pub(super) fn about(self, name: String) -> Self {
        Self { about: name, ..self }
    }

    /// Adds the entry. Without accounts there is no audit log.
    pub(super) async fn store(self, connection: &mut Connection, at: Timestamp) -> Result<(), ChangeError> {
        query(
            "INSERT INTO audit_log (at, user_id, name, action, about, address) \
             SELECT $1, $2, coalesce($3, (SELECT CAST(name AS TEXT) FROM accounts WHERE user_id = $2), ''), $4, $5, $6 \
             WHERE EXISTS (SELECT 1 FROM accounts)",
        )
        .bind_value(at)
        .bind_value(self.user_id)
        .bind(self.name)
        .bind_value(self.action)
        .bind(self.about)
        .bind(self.address)
        .execute(connection)
        .await?;
        Ok(())
    }
}

/// Returns a change's action, the account that it is about, and the address that it came from.
fn describe(change: &AccountChange) -> Option<(AuditAction, Option<UserId>, &str)> {
    let (action, user_id) = match change {
        AccountChange::StartSession { user_id, session, .. } => {
            return Some((AuditAction::SignedIn, Some(*user_id), &session.address));
        }
        AccountChange::NoteFailure {
            user_id,
            address,
            attempt,
        } => {
            let action = match attempt {
                FailedAttempt::SignIn => AuditAction::SignInFailed,
                FailedAttempt::PasswordChange => AuditAction::PasswordChangeFailed,
            };
            return Some((action, *user_id, address));
        }
        AccountChange::AddLink { link, .. } => match link.purpose {
            LinkPurpose::Invitation(Role::Administrator) => {
                return Some((AuditAction::InvitedAdministrator, None, ""));
            }
            LinkPurpose::Invitation(Role::Member) => return Some((AuditAction::Invited, None, "")),
            LinkPurpose::NewPassword(user_id) => (AuditAction::PasswordLinkMade, user_id),
        },
        AccountChange::DeleteLink { .. } => return Some((AuditAction::LinkWithdrawn, None, "")),
        AccountChange::Create { user_id, .. } | AccountChange::CreateProvided { user_id, .. } => {
            (AuditAction::AccountMade, *user_id)
        }
        AccountChange::EndSession { user_id, .. } => (AuditAction::SignedOut, *user_id),
        AccountChange::EndSessions { user_id, .. } => (AuditAction::SignedOutEverywhere, *user_id),
        AccountChange::SetPassword { user_id, .. } => (AuditAction::PasswordChanged, *user_id),
        AccountChange::Rename { user_id, .. } => (AuditAction::Renamed, *user_id),
        AccountChange::SetRole { user_id, role, .. } => match role {
            Role::Administrator => (AuditAction::MadeAdministrator, *user_id),
            Role::Member => (AuditAction::MadeMember, *user_id),
        },
        AccountChange::SetDisabled { user_id, is_disabled } => match is_disabled {
            true => (AuditAction::Disabled, *user_id),
            false => (AuditAction::Enabled, *user_id),
        },
        AccountChange::BeginDeletion { user_id, .. } => (AuditAction::Disabled, *user_id),
        AccountChange::Delete { user_id, heir: None } => (AuditAction::Deleted, *user_id),
        AccountChange::Delete {
            user_id,
            heir: Some(_),
        } => (AuditAction::HandedOver, *user_id),
        AccountChange::UseSession { .. } | AccountChange::TrimAuditLog { .. } | AccountChange::By { .. } => {
            return None;
        }
    };
    Some((action, Some(user_id), ""))
}

pub(super) async fn load_name(
    connection: &mut Connection,
    user_id: UserId,
) -> Result<Option<String>, ChangeError> {
    let row = query("SELECT name FROM accounts WHERE user_id = $1");
    let row = row.bind_value(user_id).fetch_optional(connection).await?;
    Ok(row.map(|row| text(&row, "name")).transpose()?)
}

/// Deletes old entries, and the oldest ones beyond a number. Returns true if there were any. Failed sign-ins, of which anybody
/// can make many, are counted apart: they push nothing else out.
pub(super) async fn trim(
    connection: &mut Connection,
    before: Timestamp,
    keep: usize,
) -> Result<bool, ChangeError> {
    let deleted = query(
        "DELETE FROM audit_log WHERE at < $1 \
         OR id IN (SELECT id FROM audit_log WHERE action = $3 ORDER BY id DESC LIMIT 9223372036854775807 OFFSET $2) \
         OR id IN (SELECT id FROM audit_log WHERE action <> $3 ORDER BY id DESC LIMIT 9223372036854775807 OFFSET $2)",
    )
    .bind_value(before)
    .bind_value(keep)
    .bind_value(AuditAction::SignInFailed)
    .execute(connection)
    .await?;
    Ok(deleted.rows_affected() > 0)
}
