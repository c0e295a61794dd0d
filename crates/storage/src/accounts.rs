//! Accounts, their sessions and one-time links: the stored types, the changes and the queries.

use async_trait::async_trait;

use super::{
    StorageError, TokenHash,
    audit::{Actor, AuditEntry},
    usage::{DailyUsage, Day},
};
pub use parlor_protocol::Role;
use parlor_protocol::{LinkId, MessageId, SessionId, Timestamp, UserId};

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
    pub method: SignInMethod,
}

/// The way in which a user signed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignInMethod {
    Password,
    /// The user signed in at an OpenID provider.
    Provider,
}

impl SignInMethod {
    /// Returns the name as stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Provider => "provider",
        }
    }

    /// Returns the method with a stored name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Password, Self::Provider]
            .into_iter()
            .find(|method| method.as_str() == name)
    }
}

/// A user of an OpenID provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderIdentity {
    pub issuer: String,
    /// The provider's id of the user.
    pub subject: String,
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
    /// Makes the account of a user whom an OpenID provider has authenticated. Without a role, the first one is an
    /// administrator.
    CreateProvided {
        user_id: UserId,
        name: String,
        identity: ProviderIdentity,
        role: Option<Role>,
    },
    /// Gives an account another name.
    Rename { user_id: UserId, name: String },
    /// Gives an account another role. With `keeps_administrator`, only if an administrator remains.
    SetRole {
        user_id: UserId,
        role: Role,
        keeps_administrator: bool,
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
    /// Sets a password, and ends all sessions but one and all API tokens. A link is used up.
    SetPassword {
        user_id: UserId,
        password: String,
        link: Option<TokenHash>,
        except: Option<SessionId>,
    },
    /// Adds a one-time link, in place of earlier ones for the same account. One of an administrator ends with their role.
    AddLink { link: AccountLink, hash: TokenHash },
    /// Deletes a link.
    DeleteLink { link_id: LinkId },
    /// Disables an account, which ends its sessions and the links that it made, or enables it again.
    SetDisabled { user_id: UserId, is_disabled: bool },
    /// Begins to delete an account, by an administrator: disables it, so that its runs can be stopped first.
    BeginDeletion { user_id: UserId, heir: Option<UserId> },
    /// Deletes an account with everything of its user, if that has begun and was not given up. An heir gets the conversations,
    /// the files and the library.
    Delete { user_id: UserId, heir: Option<UserId> },
    /// Notes a wrong password. It changes nothing else.
    NoteFailure {
        user_id: Option<UserId>,
        address: String,
        attempt: FailedAttempt,
    },
    /// Deletes entries of the audit log before a time, and the oldest ones beyond a number.
    TrimAuditLog { before: Timestamp, keep: usize },
    /// A change by an administrator, who is named in the audit log. Without it, it names the account itself.
    By {
        actor: Actor,
        change: Box<AccountChange>,
    },
}

/// The purpose of a wrong password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedAttempt {
    SignIn,
    PasswordChange,
}

/// A deletion of an account that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingDeletion {
    pub user_id: UserId,
    pub heir: Option<UserId>,
    /// The administrator, and their IP address.
    pub actor: UserId,
    pub address: String,
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

    /// Returns the account of a provider's user.
    async fn account_by_identity(&self, identity: &ProviderIdentity)
    -> Result<Option<Account>, StorageError>;

    /// Returns the session with this hash and its account. Either may be invalid by now.
    async fn session(&self, hash: &TokenHash) -> Result<Option<(Account, Session)>, StorageError>;

    /// Returns the sessions of a user, newest first. Some may have ended.
    async fn sessions(&self, user_id: UserId) -> Result<Vec<Session>, StorageError>;

    /// Returns the link with this hash. It may have expired.
    async fn account_link(&self, hash: &TokenHash) -> Result<Option<AccountLink>, StorageError>;

    /// Returns entries of the audit log, newest first: those before an entry, or the newest ones.
    async fn audit_log(&self, before: Option<i64>, limit: usize) -> Result<Vec<AuditEntry>, StorageError>;

    /// Returns the deletions of accounts that have begun.
    async fn pending_deletions(&self) -> Result<Vec<PendingDeletion>, StorageError>;

    /// Returns the runs of a user that work or wait for an approval.
    async fn active_runs(&self, user_id: UserId) -> Result<Vec<MessageId>, StorageError>;

    /// Returns the usage since a day, by day: of a user, or of all. Days without usage are left out.
    async fn daily_usage(&self, user_id: Option<UserId>, since: Day)
    -> Result<Vec<DailyUsage>, StorageError>;

    /// Returns all links, newest first. Some may have expired.
    async fn account_links(&self) -> Result<Vec<AccountLink>, StorageError>;
}
