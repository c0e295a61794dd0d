//! The ways to a new account: setup, invitation, open sign-up, a proxy.

use super::{
    Accounts, AttemptError, ClientAddress,
    attempts::{AttemptKey, counted_address},
    links, name, secret,
};
use parlor_base::settings::{AuthMode, SignUp};
use parlor_protocol::{ApiError, ErrorCode, UserId};
use parlor_storage::{
    StorageError,
    accounts::{Account, AccountChange, AccountWarrant},
};

impl Accounts {
    /// Returns a new token for the first account, if there is none yet and accounts have passwords. Earlier tokens of this
    /// process become invalid; every node accepts those of the others.
    pub async fn new_setup_token(&self) -> Result<Option<String>, ApiError> {
        if self.mode() != AuthMode::Password || self.storage.has_accounts().await? {
            return Ok(None);
        }
        let token = secret::generate("")?;
        let hash = secret::sha256(&token);
        self.storage.add_setup_token(hash).await?;
        *self.setup.lock() = Some(hash);
        Ok(Some(token))
    }

    /// Learns that the first account was made at another node.
    pub async fn learn_setup(&self) -> Result<(), StorageError> {
        if self.is_awaiting_setup() && self.storage.has_accounts().await? {
            *self.setup.lock() = None;
        }
        Ok(())
    }

    /// Returns true while a setup token is valid, which it is until the first account is made.
    pub fn is_awaiting_setup(&self) -> bool {
        self.setup.lock().is_some()
    }

    /// Returns true if the first account is not made yet.
    pub async fn needs_setup(&self) -> Result<bool, StorageError> {
        Ok(self.mode() == AuthMode::Password && !self.storage.has_accounts().await?)
    }

    /// Returns true if there is data of the time without accounts.
    pub async fn has_local_data(&self) -> Result<bool, StorageError> {
        Ok(self.storage.last_position(UserId::LOCAL).await?.0 > 0)
    }

    /// Makes the first account, an administrator. With `keeps_local_data` it is the local user, who had no account.
    pub async fn set_up(
        &self,
        token: &str,
        (name, password): (&str, &str),
        keeps_local_data: bool,
        from: ClientAddress,
    ) -> Result<UserId, AttemptError> {
        let key = AttemptKey::Address(counted_address(from.0));
        let begun = self.attempts.begin(std::slice::from_ref(&key)).await?;
        // The hash of a guess says nothing about the token, so the comparison need not take constant time.
        let hash = secret::parse(token.trim(), "");
        let is_own = hash.is_some() && *self.setup.lock() == hash;
        let is_valid = match hash {
            // Another node has printed it.
            Some(hash) if !is_own => self.storage.is_setup_token(hash).await?,
            _ => is_own,
        };
        if !is_valid {
            return Err(AttemptError::Refused(ApiError::new(
                ErrorCode::Forbidden,
                "This is not the setup token. No account was made; open the address that Parlor prints when it starts.",
            )));
        }
        self.attempts.succeed(std::slice::from_ref(&key), begun).await;
        let user_id = if keeps_local_data {
            UserId::LOCAL
        } else {
            UserId::new()
        };
        self.create(user_id, (name, password), AccountWarrant::Setup)
            .await?;
        *self.setup.lock() = None;
        // They make no account any more.
        if let Err(error) = self.storage.delete_setup_tokens().await {
            tracing::warn!(%error, "the tokens for the first account are not deleted");
        }
        Ok(user_id)
    }

    /// Makes an account without an invitation, if everybody may.
    pub async fn sign_up(
        &self,
        name: &str,
        password: &str,
        from: ClientAddress,
    ) -> Result<UserId, AttemptError> {
        if self.settings.sign_up != SignUp::Open {
            return Err(AttemptError::Refused(crate::app::not_found()));
        }
        // Limits how many accounts an address makes, and how many names it tries.
        self.attempts
            .begin(&[AttemptKey::SignUps(counted_address(from.0))])
            .await?;
        let user_id = UserId::new();
        Ok(self
            .create(user_id, (name, password), AccountWarrant::SignUp)
            .await?)
    }

    /// Makes an account for an invitation.
    pub async fn accept_invitation(
        &self,
        invitation: &str,
        name: &str,
        password: &str,
    ) -> Result<UserId, ApiError> {
        let hash = secret::parse(invitation, "").ok_or_else(links::invalid_link)?;
        if self.settings.sign_up == SignUp::Closed {
            return Err(links::invalid_link());
        }
        let user_id = UserId::new();
        let warrant = AccountWarrant::Invitation(hash);
        let created = self.create(user_id, (name, password), warrant).await;
        created.map_err(|error| match error.code {
            ErrorCode::NotFound => links::invalid_link(),
            _ => error,
        })
    }

    async fn create(
        &self,
        user_id: UserId,
        (name, password): (&str, &str),
        warrant: AccountWarrant,
    ) -> Result<UserId, ApiError> {
        let name = name::parse(name)?;
        self.passwords.check(password, &name)?;
        let password = Some(self.passwords.hash(password).await?);
        self.submit(AccountChange::Create {
            user_id,
            name,
            password,
            warrant,
        })
        .await?;
        Ok(user_id)
    }

    /// Returns the account of a user whom a named proxy has authenticated, and makes it the first time.
    pub async fn proxied_account(&self, name: &str) -> Result<Account, ApiError> {
        let name = name::parse(name)?;
        if let Some((account, _)) = self.storage.account_by_name(&name).await? {
            return Ok(account);
        }
        // The first account takes over what was written without accounts, as in `set_up`.
        let is_local = !self.storage.has_accounts().await? && self.has_local_data().await?;
        let local = is_local.then_some(UserId::LOCAL);
        let mut rejection = None;
        for user_id in local.into_iter().chain([UserId::new()]) {
            let created = self.submit(AccountChange::Create {
                user_id,
                name: name.clone(),
                password: None,
                warrant: AccountWarrant::Proxy,
            });
            rejection = created.await.err();
            // Another request may have made this account meanwhile, or the local user's for somebody else.
            if let Some((account, _)) = self.storage.account_by_name(&name).await? {
                return Ok(account);
            }
        }
        Err(rejection.unwrap_or_else(crate::app::not_found))
    }
}
