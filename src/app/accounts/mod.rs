//! Accounts: sign-in, sessions, one-time links and their limits.
//!
//! The session layer is our own. `tower-sessions` stores a session under its plain id and knows neither its user nor its device,
//! so a store for it could not keep hashes only, list a user's sessions, or end their streams. `axum-login` needs it.
//!
//! - [`attempts`], [`requests`]: limits
//! - [`device`]: descriptions of browsers
//! - [`creation`]: the ways to a new account; [`name`]: their names
//! - [`deletion`]: their end, and the hand-over of what is in them
//! - [`passwords`]: hashes and rules of passwords
//! - [`secret`]: random secrets
//! - [`links`]: invitations and links for a new password
//! - [`sessions`]: signed-in browsers
//! - [`oidc`]: sign-in by an OpenID provider; [`provided`]: the accounts of its users

mod attempts;
mod creation;
pub mod deletion;
mod device;
pub mod links;
pub(super) mod name;
pub mod oidc;
mod passwords;
mod provided;
mod requests;
pub mod secret;
mod sessions;

#[cfg(test)]
mod tests;

use std::{net::IpAddr, sync::Arc, time::Duration};

use parking_lot::Mutex;

use self::{
    attempts::{AttemptKey, Attempts, counted_address},
    oidc::Provider,
    passwords::Passwords,
    requests::RequestLimiter,
};
pub use self::{
    requests::RequestKey,
    sessions::{NewSession, SessionAccess},
};
use super::{access::AccessMonitor, last_uses::LastUses};
use parlor_base::{
    clock,
    settings::{AccountSettings, AuthMode, SignUp},
};
use parlor_journal::Journal;
use parlor_protocol::{ApiError, ErrorCode, SessionId, Timestamp, UserId};
use parlor_storage::{
    Change, Storage, StorageError, TokenHash,
    accounts::{Account, AccountChange, AccountWarrant, FailedAttempt, Role},
    audit::{Actor, AuditEntry, SignInWay},
};

/// The accounts of a server.
pub struct Accounts {
    settings: AccountSettings,
    storage: Arc<dyn Storage>,
    journal: Journal,
    monitor: Arc<AccessMonitor>,
    passwords: Passwords,
    attempts: Attempts,
    requests: RequestLimiter,
    session_uses: LastUses<SessionId>,
    /// The OpenID provider, with "oidc".
    provider: Option<Provider>,
    /// The hash of the token with which the first account is made. Set while there is no account.
    setup: Mutex<Option<TokenHash>>,
}

/// The origin of an attempt to sign in.
#[derive(Clone, Copy, Debug)]
pub struct ClientAddress(pub IpAddr);

/// A rejected attempt.
#[derive(Debug)]
pub enum AttemptError {
    /// The limit of attempts is reached. The next one is possible after this time.
    Wait(Duration),
    Refused(ApiError),
}

impl<E: Into<ApiError>> From<E> for AttemptError {
    fn from(error: E) -> Self {
        Self::Refused(error.into())
    }
}

impl Accounts {
    pub fn new(
        settings: AccountSettings,
        storage: Arc<dyn Storage>,
        journal: Journal,
        monitor: Arc<AccessMonitor>,
    ) -> Self {
        Self {
            passwords: Passwords::new(settings.password_characters, settings.password_checks),
            attempts: Attempts::new(settings.sign_in_attempts, settings.sign_in_wait, &storage),
            requests: RequestLimiter::new(settings.requests_per_minute, &storage),
            session_uses: LastUses::default(),
            setup: Mutex::default(),
            provider: (settings.auth == AuthMode::Oidc).then(|| Provider::new(settings.oidc.clone())),
            settings,
            storage,
            journal,
            monitor,
        }
    }

    pub fn mode(&self) -> AuthMode {
        self.settings.auth
    }

    pub fn sign_up_mode(&self) -> SignUp {
        self.settings.sign_up
    }

    /// Counts a request.
    ///
    /// # Errors
    ///
    /// If it exceeds the limit; with the time after which it does not.
    pub async fn count_request(&self, key: RequestKey) -> Result<(), Duration> {
        self.requests.count(key).await
    }

    /// Counts a request of this process only: one that has to be answered while the database is away.
    ///
    /// # Errors
    ///
    /// As [`count_request`](Self::count_request).
    pub fn count_local_request(&self, key: RequestKey) -> Result<(), Duration> {
        self.requests.count_local(key)
    }

    /// The minimum number of characters of a password.
    pub fn min_password_characters(&self) -> usize {
        self.passwords.min_characters()
    }

    /// Checks a name and a password. Unknown names, disabled accounts and wrong passwords have the same result, after the same
    /// work.
    pub async fn check_password(
        &self,
        name: &str,
        password: &str,
        from: ClientAddress,
    ) -> Result<Account, AttemptError> {
        self.check_password_for(FailedAttempt::SignIn, name, password, from)
            .await
    }

    async fn check_password_for(
        &self,
        attempt: FailedAttempt,
        name: &str,
        password: &str,
        from: ClientAddress,
    ) -> Result<Account, AttemptError> {
        let name = name::normalize(name);
        let keys = [
            AttemptKey::Account(name.clone()),
            AttemptKey::Address(counted_address(from.0)),
        ];
        let begun = self.attempts.begin(&keys).await?;
        let (account, hash) = self.storage.account_by_name(&name).await?.unzip();
        // The written name is not noted: it could be a password in the wrong field.
        let user_id = account.as_ref().map(|account| account.user_id);
        let is_right = self.passwords.verify(password, hash.flatten().as_deref()).await?;
        match account.filter(|account| is_right && !account.is_disabled) {
            Some(account) => {
                self.attempts.succeed(&keys, begun).await;
                Ok(account)
            }
            None => {
                self.note_failure(user_id, from, attempt).await?;
                Err(AttemptError::Refused(ApiError::new(
                    ErrorCode::Unauthorized,
                    "The name or the password is wrong. You are not signed in.",
                )))
            }
        }
    }

    /// Changes the user's own password, which ends all other sessions.
    pub async fn change_password(
        &self,
        account: &Account,
        (old, new): (&str, &str),
        session: SessionId,
        from: ClientAddress,
    ) -> Result<(), AttemptError> {
        self.passwords.check(new, &account.name)?;
        let attempt = FailedAttempt::PasswordChange;
        let checked = self.check_password_for(attempt, &account.name, old, from).await;
        checked.map_err(|error| match error {
            AttemptError::Refused(error) if error.code == ErrorCode::Unauthorized => {
                let message = "The old password is wrong. Nothing was changed.";
                AttemptError::Refused(ApiError::new(ErrorCode::Forbidden, message))
            }
            error => error,
        })?;
        let password = self.passwords.hash(new).await?;
        self.submit(AccountChange::SetPassword {
            user_id: account.user_id,
            password,
            link: None,
            except: Some(session),
        })
        .await?;
        Ok(())
    }

    pub async fn account(&self, user_id: UserId) -> Result<Option<Account>, StorageError> {
        self.storage.account(user_id).await
    }

    /// Returns the account with a name, however it is written.
    pub async fn account_by_name(&self, name: &str) -> Result<Option<Account>, StorageError> {
        let found = self.storage.account_by_name(&name::normalize(name)).await?;
        Ok(found.map(|(account, _)| account))
    }

    pub async fn accounts(&self) -> Result<Vec<Account>, StorageError> {
        self.storage.accounts().await
    }

    /// Disables an account, or enables it again.
    pub async fn set_disabled(&self, by: &Actor, user_id: UserId, is_disabled: bool) -> Result<(), ApiError> {
        self.submit_by(by, AccountChange::SetDisabled { user_id, is_disabled })
            .await
    }

    /// Gives an account another role.
    pub async fn set_role(&self, by: &Actor, user_id: UserId, role: Role) -> Result<(), ApiError> {
        let change = AccountChange::SetRole {
            user_id,
            role,
            keeps_administrator: true,
        };
        self.submit_by(by, change).await
    }

    /// Returns true if the provider's groups decide the roles.
    pub fn has_provided_roles(&self) -> bool {
        self.mode() == AuthMode::Oidc && !self.settings.oidc.administrator_groups.is_empty()
    }

    /// Returns entries of the audit log, newest first: those before an entry, or the newest ones.
    pub async fn audit_log(
        &self,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<AuditEntry>, StorageError> {
        self.storage.audit_log(before, limit).await
    }

    /// Deletes the entries of the audit log that are older than the settings say, or too many.
    pub async fn trim_audit_log(&self) -> Result<(), ApiError> {
        let keep_ms = sessions::milliseconds(self.settings.audit_keep);
        self.submit(AccountChange::TrimAuditLog {
            before: Timestamp(clock::now().0.saturating_sub(keep_ms)),
            keep: self.settings.audit_entries,
        })
        .await
    }

    /// Notes a wrong password, or another failed sign-in, in the audit log.
    async fn note_failure(
        &self,
        user_id: Option<UserId>,
        from: ClientAddress,
        attempt: FailedAttempt,
    ) -> Result<(), ApiError> {
        let address = from.0.to_string();
        self.submit(AccountChange::NoteFailure {
            user_id,
            address,
            attempt,
        })
        .await
    }

    /// Returns the way in which people sign in here.
    pub fn sign_in_way(&self) -> SignInWay {
        match self.mode() {
            AuthMode::None | AuthMode::Password => SignInWay::Password,
            AuthMode::Oidc => SignInWay::Provider {
                issuer: self
                    .provider()
                    .map(|at| at.issuer().to_owned())
                    .unwrap_or_default(),
            },
            AuthMode::Proxy => SignInWay::Proxy,
        }
    }

    /// Commits a change by an administrator.
    async fn submit_by(&self, by: &Actor, change: AccountChange) -> Result<(), ApiError> {
        let (actor, change) = (by.clone(), Box::new(change));
        self.submit(AccountChange::By { actor, change }).await
    }

    /// Commits a change. If it can end an access, all are checked again.
    async fn submit(&self, change: AccountChange) -> Result<(), ApiError> {
        if let AccountChange::Create { user_id, name, .. }
        | AccountChange::CreateProvided { user_id, name, .. }
        | AccountChange::Rename { user_id, name } = &change
        {
            let accounts = self.storage.accounts().await?;
            let others = accounts.iter().filter(|account| account.user_id != *user_id);
            let checked = name::check_look(name, others.map(|account| &*account.name));
            if let Err(error) = checked {
                if !is_proxied(&change) {
                    return Err(error);
                }
                tracing::warn!(%name, why = %error.message, "the proxy names a user who could be read as another");
            }
        }
        let may_end_access = may_end_access(&change);
        self.journal.submit(Change::Account(change)).await?;
        if may_end_access {
            self.monitor.recheck();
        }
        Ok(())
    }
}

/// Returns true for the account of a user whom a proxy names. The proxy is trusted, and the user can't choose another name here.
fn is_proxied(change: &AccountChange) -> bool {
    let AccountChange::Create { warrant, .. } = change else {
        return false;
    };
    matches!(warrant, AccountWarrant::Proxy)
}

/// Returns true if a change can end a session or disable an account.
fn may_end_access(change: &AccountChange) -> bool {
    match change {
        AccountChange::EndSession { .. }
        | AccountChange::EndSessions { .. }
        | AccountChange::SetPassword { .. }
        | AccountChange::SetDisabled { .. }
        | AccountChange::BeginDeletion { .. }
        | AccountChange::Delete { .. } => true,
        AccountChange::CreateProvided { .. }
        | AccountChange::Rename { .. }
        | AccountChange::SetRole { .. } => false,
        AccountChange::StartSession { replaces, .. } => replaces.is_some(),
        AccountChange::By { change, .. } => may_end_access(change),
        AccountChange::Create { .. }
        | AccountChange::NoteFailure { .. }
        | AccountChange::TrimAuditLog { .. }
        | AccountChange::UseSession { .. }
        | AccountChange::AddLink { .. }
        | AccountChange::DeleteLink { .. } => false,
    }
}
