//! The accounts of users whom an OpenID provider authenticates. They are known by issuer and subject, never by name or mail.

use super::{
    Accounts, AttemptError, ClientAddress,
    attempts::{AttemptKey, counted_address},
    name,
    oidc::{Attempt, Callback, ProvidedUser, Provider},
};
use parlor_protocol::{ApiError, ErrorCode, UserId};
use parlor_storage::{
    StorageError,
    accounts::{Account, AccountChange, FailedAttempt, ProviderIdentity, Role},
};

/// The number of names that are tried for an account whose own name is taken.
const MAX_NAME_NUMBER: usize = 99;
/// The end of the numbers for a name of which all smaller ones are taken.
const MAX_RANDOM_NUMBER: usize = 1_000_000;

impl Accounts {
    /// Returns the OpenID provider.
    pub fn provider(&self) -> Option<&Provider> {
        self.provider.as_ref()
    }

    /// Ends a sign-in at the provider. Returns the user's account, which is made the first time.
    pub async fn finish_provided(
        &self,
        attempt: &Attempt,
        callback: Callback,
        redirect_uri: &str,
        from: ClientAddress,
    ) -> Result<Account, AttemptError> {
        let Some(provider) = &self.provider else {
            return Err(AttemptError::Refused(crate::app::not_found()));
        };
        let key = AttemptKey::Address(counted_address(from.0));
        let begun = self.attempts.begin(std::slice::from_ref(&key)).await?;
        let user = match provider.finish(attempt, callback, redirect_uri).await {
            Ok(user) => user,
            Err(error) if error.code == ErrorCode::Unavailable => {
                self.attempts.succeed(std::slice::from_ref(&key), begun).await;
                return Err(AttemptError::Refused(error));
            }
            Err(error) => {
                self.note_failure(None, from, FailedAttempt::SignIn).await?;
                return Err(AttemptError::Refused(error));
            }
        };
        let identity = ProviderIdentity {
            issuer: provider.issuer().to_owned(),
            subject: user.subject.clone(),
        };
        let account = self.provided_account(&identity, &user).await?;
        if account.is_disabled {
            self.note_failure(Some(account.user_id), from, FailedAttempt::SignIn)
                .await?;
            let why = "Your account here is disabled. You are not signed in; ask an administrator.";
            return Err(AttemptError::Refused(ApiError::new(ErrorCode::Forbidden, why)));
        }
        self.attempts.succeed(std::slice::from_ref(&key), begun).await;
        Ok(account)
    }

    pub(super) async fn provided_account(
        &self,
        identity: &ProviderIdentity,
        user: &ProvidedUser,
    ) -> Result<Account, ApiError> {
        if let Some(account) = self.storage.account_by_identity(identity).await? {
            // One that is disabled cannot sign in: nothing of it changes.
            return match account.is_disabled {
                true => Ok(account),
                false => self.update_provided(account, user).await,
            };
        }
        // The first administrator takes over what was written without accounts.
        let has_accounts = self.storage.has_accounts().await?;
        let is_administrator = user
            .role
            .map_or(!has_accounts, |role| role == Role::Administrator);
        let is_local = is_administrator
            && self.storage.account(UserId::LOCAL).await?.is_none()
            && self.has_local_data().await?;
        let mut user_id = if is_local { UserId::LOCAL } else { UserId::new() };
        let random = name::with_number(
            &user.name,
            fastrand::usize(MAX_NAME_NUMBER + 1..MAX_RANDOM_NUMBER),
        );
        let mut names = names(&user.name).chain([random]);
        let mut next = names.next();
        while let Some(name) = next {
            let is_taken = self.storage.account_by_name(&name).await?.is_some();
            if !is_taken {
                let created = self.submit(AccountChange::CreateProvided {
                    user_id,
                    name: name.clone(),
                    identity: identity.clone(),
                    role: user.role,
                });
                let rejection = created.await.err();
                if let Some(account) = self.storage.account_by_identity(identity).await? {
                    return Ok(account);
                }
                if let Some(error) = rejection.filter(|error| error.code != ErrorCode::BadRequest) {
                    return Err(error);
                }
            }
            // Another request may have made the local user's account for somebody else: the name can still be free.
            next = match !is_taken && user_id == UserId::LOCAL {
                true => Some(name),
                false => names.next(),
            };
            user_id = UserId::new();
        }
        let why = "No name is free for your account here. You are not signed in; ask an administrator.";
        Err(ApiError::new(ErrorCode::Forbidden, why))
    }

    /// Gives an account the name and the role that its user has at the provider now.
    async fn update_provided(&self, account: Account, user: &ProvidedUser) -> Result<Account, ApiError> {
        let user_id = account.user_id;
        if let Some(role) = user.role.filter(|role| *role != account.role) {
            self.submit(AccountChange::SetRole {
                user_id,
                role,
                keeps_administrator: false,
            })
            .await?;
        }
        if !names(&user.name).any(|name| name == account.name)
            && let Some(name) = self.free_name(user_id, &user.name).await?
            && let Err(error) = self.submit(AccountChange::Rename { user_id, name }).await
        {
            // Somebody else may have taken it meanwhile. The next sign-in tries again.
            tracing::info!(?error, "an account keeps its old name");
        }
        let account = self.storage.account(user_id).await?;
        account.ok_or_else(crate::app::not_found)
    }

    /// Returns the first name for an account that nobody has, and that can't be read as another account's.
    async fn free_name(&self, user_id: UserId, wanted: &str) -> Result<Option<String>, StorageError> {
        let accounts = self.storage.accounts().await?;
        let others = accounts.iter().filter(|account| account.user_id != user_id);
        let others: Vec<&str> = others.map(|account| &*account.name).collect();
        for name in names(wanted) {
            if name::check_look(&name, others.iter().copied()).is_ok()
                && self.storage.account_by_name(&name).await?.is_none()
            {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }
}

/// Returns the names for an account: the wanted one, then others with a number.
fn names(wanted: &str) -> impl Iterator<Item = String> {
    let numbered = (2..=MAX_NAME_NUMBER).map(move |number| name::with_number(wanted, number));
    std::iter::once(wanted.to_owned()).chain(numbered)
}
