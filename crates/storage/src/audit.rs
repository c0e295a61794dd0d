//! The audit log: who did what, and when, without contents and secrets.

use parlor_protocol::{Timestamp, UserId};

/// The actor of a change to other accounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    pub user_id: UserId,
    pub address: String,
    /// The way in which people sign in at present: an administrator who can't any more does not count.
    pub signs_in_by: SignInWay,
}

/// The way in which people sign in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignInWay {
    /// People use the password of their account.
    Password,
    /// People use the OpenID provider with this issuer.
    Provider { issuer: String },
    /// A proxy signs people in, and names any account.
    Proxy,
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Later entries have greater ids.
    pub id: i64,
    pub at: Timestamp,
    /// The name of the account that did it, as it was then. Empty if nobody was signed in.
    pub name: String,
    pub action: AuditAction,
    /// The name of the account that it was done to, if that is another one; the new name of a renamed account; the name of a
    /// model server; the reader of a project.
    pub about: String,
    /// The client's IP address, if it is known.
    pub address: String,
}

/// An action that the audit log records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditAction {
    SignedIn,
    SignInFailed,
    /// The old password was wrong when somebody wanted to change it.
    PasswordChangeFailed,
    SignedOut,
    SignedOutEverywhere,
    AccountMade,
    Renamed,
    MadeAdministrator,
    MadeMember,
    Disabled,
    Enabled,
    Deleted,
    HandedOver,
    Invited,
    InvitedAdministrator,
    PasswordLinkMade,
    LinkWithdrawn,
    PasswordChanged,
    TokenMade,
    TokenRevoked,
    Shared,
    ShareEnded,
    /// Those about projects name the reader.
    ProjectShared,
    ProjectShareEnded,
    /// Those about model servers name the server.
    EndpointAdded,
    EndpointChanged,
    EndpointKeyChanged,
    EndpointRemoved,
    OwnKeysAllowed,
    OwnKeysForbidden,
}

impl AuditAction {
    pub const ALL: [Self; 30] = [
        Self::SignedIn,
        Self::SignInFailed,
        Self::PasswordChangeFailed,
        Self::SignedOut,
        Self::SignedOutEverywhere,
        Self::AccountMade,
        Self::Renamed,
        Self::MadeAdministrator,
        Self::MadeMember,
        Self::Disabled,
        Self::Enabled,
        Self::Deleted,
        Self::HandedOver,
        Self::Invited,
        Self::InvitedAdministrator,
        Self::PasswordLinkMade,
        Self::LinkWithdrawn,
        Self::PasswordChanged,
        Self::TokenMade,
        Self::TokenRevoked,
        Self::Shared,
        Self::ShareEnded,
        Self::ProjectShared,
        Self::ProjectShareEnded,
        Self::EndpointAdded,
        Self::EndpointChanged,
        Self::EndpointKeyChanged,
        Self::EndpointRemoved,
        Self::OwnKeysAllowed,
        Self::OwnKeysForbidden,
    ];

    /// Returns the name as stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SignedIn => "signed_in",
            Self::SignInFailed => "sign_in_failed",
            Self::PasswordChangeFailed => "password_change_failed",
            Self::SignedOut => "signed_out",
            Self::SignedOutEverywhere => "signed_out_everywhere",
            Self::AccountMade => "account_made",
            Self::Renamed => "renamed",
            Self::MadeAdministrator => "made_administrator",
            Self::MadeMember => "made_member",
            Self::Disabled => "disabled",
            Self::Enabled => "enabled",
            Self::Deleted => "deleted",
            Self::HandedOver => "handed_over",
            Self::Invited => "invited",
            Self::InvitedAdministrator => "invited_administrator",
            Self::PasswordLinkMade => "password_link_made",
            Self::LinkWithdrawn => "link_withdrawn",
            Self::PasswordChanged => "password_changed",
            Self::TokenMade => "token_made",
            Self::TokenRevoked => "token_revoked",
            Self::Shared => "shared",
            Self::ShareEnded => "share_ended",
            Self::ProjectShared => "project_shared",
            Self::ProjectShareEnded => "project_share_ended",
            Self::EndpointAdded => "endpoint_added",
            Self::EndpointChanged => "endpoint_changed",
            Self::EndpointKeyChanged => "endpoint_key_changed",
            Self::EndpointRemoved => "endpoint_removed",
            Self::OwnKeysAllowed => "own_keys_allowed",
            Self::OwnKeysForbidden => "own_keys_forbidden",
        }
    }

    /// Returns the action with a stored name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_names_are_read_again() {
        for action in AuditAction::ALL {
            assert_eq!(AuditAction::from_name(action.as_str()), Some(action));
        }
        assert_eq!(AuditAction::from_name("x"), None);
    }
}
