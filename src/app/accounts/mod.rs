//! Accounts: sign-in, sessions, one-time links and their limits.
//!
//! The session layer is our own. `tower-sessions` stores a session under its plain id and knows neither its user nor its device,
//! so a store for it could not keep hashes only, list a user's sessions, or end their streams. `axum-login` needs it.
//!
//! - [`attempts`], [`requests`]: limits
//! - [`device`]: descriptions of browsers
//! - [`creation`]: the ways to a new account; [`name`]: their names
//! - [`passwords`]: hashes and rules of passwords
//! - [`secret`]: random secrets
//! - [`links`]: invitations and links for a new password
//! - [`sessions`]: signed-in browsers

mod attempts;
mod creation;
mod device;
pub mod links;
mod name;
mod passwords;
mod requests;
pub mod secret;
mod sessions;

#[cfg(test)]
mod tests;

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use self::{
    attempts::{AttemptKey, Attempts, counted_address},
    passwords::Passwords,
    requests::RequestLimiter,
};
pub use self::{
    requests::RequestKey,
    sessions::{NewSession, SessionAccess},
};
use super::{access::AccessMonitor, last_uses::LastUses};
use crate::{
    journal::Journal,
    protocol::{ApiError, ErrorCode, SessionId, UserId},
    settings::{AccountSettings, AuthMode, SignUp},
    storage::{
        Change, Storage, StorageError, TokenHash,
        accounts::{Account, AccountChange},
    },
};

/// The accounts of a server.
pub struct Accounts {
    settings: AccountSettings,
    storage: Arc<dyn Storage>,
    journal: Journal,
    monitor: Arc<AccessMonitor>,
    passwords: Passwords,
    attempts: Mutex<Attempts>,
    requests: RequestLimiter,
    session_uses: LastUses<SessionId>,
    /// The hash of the token with which the first account is made. Set while there is no account.
    setup: Mutex<Option<TokenHash>>,
}

/// The origin of an attempt to sign in.
#[derive(Clone, Copy, Debug)]
pub struct ClientAddress(pub IpAddr);

/// A rejected attempt.
#[derive(Debug)]
pub enum AttemptError {
    /// There were too many attempts. The next one is possible after this time.
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
            passwords: Passwords::new(settings.password_characters),
            attempts: Mutex::new(Attempts::new(settings.sign_in_attempts, settings.sign_in_wait)),
            requests: RequestLimiter::new(settings.requests_per_minute),
            session_uses: LastUses::default(),
            setup: Mutex::default(),
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
    pub fn count_request(&self, key: RequestKey) -> Result<(), Duration> {
        self.requests.count(key)
    }

    /// Checks a name and a password. Unknown names, disabled accounts and wrong passwords have the same answer, after the same
    /// work.
    pub async fn check_password(
        &self,
        name: &str,
        password: &str,
        from: ClientAddress,
    ) -> Result<Account, AttemptError> {
        let name = name::normalize(name);
        let keys = [
            AttemptKey::Account(name.clone()),
            AttemptKey::Address(counted_address(from.0)),
        ];
        let begun = self.begin_attempt(&keys)?;
        let (account, hash) = self.storage.account_by_name(&name).await?.unzip();
        let is_right = self.passwords.verify(password, hash.flatten().as_deref()).await?;
        match account.filter(|account| is_right && !account.is_disabled) {
            Some(account) => {
                let [of_account, of_address] = &keys;
                let mut attempts = self.attempts.lock();
                attempts.forget(of_account);
                attempts.take_back(of_address, begun);
                Ok(account)
            }
            None => Err(AttemptError::Refused(ApiError::new(
                ErrorCode::Unauthorized,
                "The name or the password is wrong. You are not signed in.",
            ))),
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
        let checked = self.check_password(&account.name, old, from).await;
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

    pub async fn accounts(&self) -> Result<Vec<Account>, StorageError> {
        self.storage.accounts().await
    }

    /// Disables an account, or enables it again.
    pub async fn set_disabled(&self, user_id: UserId, is_disabled: bool) -> Result<(), ApiError> {
        self.submit(AccountChange::SetDisabled { user_id, is_disabled })
            .await
    }

    /// Counts an attempt. Returns its time.
    fn begin_attempt(&self, keys: &[AttemptKey]) -> Result<Instant, AttemptError> {
        let now = Instant::now();
        let begun = self.attempts.lock().begin(keys, now);
        begun.map(|()| now).map_err(AttemptError::Wait)
    }

    /// Commits a change. If it can end an access, all are checked again.
    async fn submit(&self, change: AccountChange) -> Result<(), ApiError> {
        let may_end_access = may_end_access(&change);
        self.journal.submit(Change::Account(change)).await?;
        if may_end_access {
            self.monitor.recheck();
        }
        Ok(())
    }
}

/// Returns true if a change can end a session or disable an account.
fn may_end_access(change: &AccountChange) -> bool {
    match change {
        AccountChange::EndSession { .. }
        | AccountChange::EndSessions { .. }
        | AccountChange::SetPassword { .. }
        | AccountChange::SetDisabled { .. }
        | AccountChange::Delete { .. } => true,
        AccountChange::StartSession { replaces, .. } => replaces.is_some(),
        AccountChange::Create { .. }
        | AccountChange::UseSession { .. }
        | AccountChange::AddLink { .. }
        | AccountChange::DeleteLink { .. } => false,
    }
}

/// Deletes an account with everything of its user, whose runs are stopped first.
pub async fn delete_user(app: &super::AppState, user_id: UserId) -> Result<(), ApiError> {
    app.accounts.set_disabled(user_id, true).await?;
    for run in app.storage.running_runs().await? {
        if run.key.user_id == user_id {
            app.runs.stop(user_id, run.key.message_id).await?;
        }
    }
    app.accounts.submit(AccountChange::Delete { user_id }).await
}
