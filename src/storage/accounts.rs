//! Accounts, their sessions and one-time links: the stored types, the changes and the queries.

use async_trait::async_trait;

use super::{StorageError, TokenHash};
use crate::protocol::{LinkId, SessionId, Timestamp, UserId};

/// A user who can sign in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub user_id: UserId,
    /// Normalized, and unique.
    pub name: String,
    pub role: Role,
    pub created_at: Timestamp,
    /// True if the account may not be used.
    pub is_disabled: bool,
}

/// The rights of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Manages the accounts.
    Administrator,
    Member,
}

impl Role {
    /// Returns the name as stored and as in forms.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Administrator => "administrator",
            Self::Member => "member",
        }
    }

    /// Returns the role with a name. Any other name is the role with fewer rights.
    pub fn from_name(name: &str) -> Self {
        match name {
            "administrator" => Self::Administrator,
            _ => Self::Member,
        }
    }
}

/// A signed-in browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub id: SessionId,
    pub device: String,
    pub address: String,
    pub created_at: Timestamp,
    pub last_used_at: Timestamp,
    /// The time without use after which it ends, in milliseconds.
    pub idle_ms: i64,
    /// The time at which it ends in any case.
    pub expires_at: Timestamp,
}

impl Session {
    /// Returns the time at which it ends unless it is used before.
    pub fn end(&self) -> Timestamp {
        Timestamp(self.last_used_at.0.saturating_add(self.idle_ms)).min(self.expires_at)
    }
}

/// A one-time link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountLink {
    pub id: LinkId,
    pub purpose: LinkPurpose,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// The purpose of a one-time link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkPurpose {
    /// A new account with this role.
    Invitation(Role),
    /// A new password for this account.
    NewPassword(UserId),
}

/// The reason for which an account may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountWarrant {
    /// The first account. It becomes an administrator.
    Setup,
    /// An invitation, which is used up. It has the role.
    Invitation(TokenHash),
    /// Everybody may. A member.
    SignUp,
    /// A proxy has authenticated the user. The first becomes an administrator.
    Proxy,
}

/// A change to accounts, sessions or links.
#[derive(Clone, Debug)]
pub enum AccountChange {
    /// Makes an account.
    Create {
        user_id: UserId,
        name: String,
        password: Option<String>,
        warrant: AccountWarrant,
    },
    /// Starts a session, instead of an earlier one of the same browser. Deletes the user's ended sessions.
    StartSession {
        user_id: UserId,
        session: Session,
        hash: TokenHash,
        replaces: Option<TokenHash>,
    },
    /// Records that a session was used now.
    UseSession { session_id: SessionId, address: String },
    /// Ends a session of a user.
    EndSession { user_id: UserId, session_id: SessionId },
    /// Ends all sessions of a user but one.
    EndSessions {
        user_id: UserId,
        except: Option<SessionId>,
    },
    /// Sets a password and ends all sessions but one. A link is used up.
    SetPassword {
        user_id: UserId,
        password: String,
        link: Option<TokenHash>,
        except: Option<SessionId>,
    },
    /// Adds a one-time link, in place of earlier ones for the same account.
    AddLink { link: AccountLink, hash: TokenHash },
    /// Deletes a link.
    DeleteLink { link_id: LinkId },
    /// Disables an account, which ends its sessions, or enables it again.
    SetDisabled { user_id: UserId, is_disabled: bool },
    /// Deletes an account with everything of its user.
    Delete { user_id: UserId },
}

/// The queries about accounts.
#[async_trait]
pub trait AccountStorage {
    /// Returns true if there is any account.
    async fn has_accounts(&self) -> Result<bool, StorageError>;

    /// Returns all accounts by name.
    async fn accounts(&self) -> Result<Vec<Account>, StorageError>;

    async fn account(&self, user_id: UserId) -> Result<Option<Account>, StorageError>;

    /// Returns the account with a normalized name, and the hash of its password.
    async fn account_by_name(&self, name: &str) -> Result<Option<(Account, Option<String>)>, StorageError>;

    /// Returns the session with this hash and its account. Either may be invalid by now.
    async fn session(&self, hash: &TokenHash) -> Result<Option<(Account, Session)>, StorageError>;

    /// Returns the sessions of a user, newest first. Some may have ended.
    async fn sessions(&self, user_id: UserId) -> Result<Vec<Session>, StorageError>;

    /// Returns the link with this hash. It may have expired.
    async fn account_link(&self, hash: &TokenHash) -> Result<Option<AccountLink>, StorageError>;

    /// Returns all links, newest first. Some may have expired.
    async fn account_links(&self) -> Result<Vec<AccountLink>, StorageError>;
}
