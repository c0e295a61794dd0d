//! One-time links: invitations, and links with which a user sets a new password. They end with the role of the administrator
//! who made them (`crates/storage/src/sql/commit/administrators.rs`).

use super::{Accounts, secret, sessions::milliseconds};
use parlor_base::clock;
use parlor_protocol::{ApiError, ErrorCode, LinkId, Timestamp, UserId};
use parlor_storage::{
    Storage, StorageError, TokenHash,
    accounts::{AccountChange, AccountLink, LinkPurpose, Role},
    audit::Actor,
};

/// Returns the error for a link that is used up, has expired or never existed.
pub fn invalid_link() -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        "This link is not valid any more: it works once, for some days, and while the administrator who made it is one. Ask an administrator for a new one.",
    )
}

/// Generates a link with its secret and hash.
pub fn generate(
    purpose: LinkPurpose,
    lifetime: std::time::Duration,
) -> Result<(String, TokenHash, AccountLink), ApiError> {
    let secret = secret::generate("")?;
    let hash = secret::sha256(&secret);
    let created_at = clock::now();
    let link = AccountLink {
        id: LinkId::new(),
        purpose,
        created_at,
        expires_at: Timestamp(created_at.0.saturating_add(milliseconds(lifetime))),
    };
    Ok((secret, hash, link))
}

/// Returns the path of a link's page.
pub fn path(purpose: LinkPurpose, secret: &str) -> String {
    match purpose {
        LinkPurpose::Invitation(_) => format!("/invitation/{secret}"),
        LinkPurpose::NewPassword(_) => format!("/new-password/{secret}"),
    }
}

/// Makes a link for a new password in a data folder that no server uses. Returns its path.
pub async fn generate_offline(
    storage: &dyn Storage,
    name: &str,
    lifetime: std::time::Duration,
) -> Result<String, ApiError> {
    let found = storage.account_by_name(&super::name::normalize(name)).await?;
    let Some((account, _)) = found else {
        return Err(ApiError::new(
            ErrorCode::NotFound,
            format!("there is no account with the name “{name}”"),
        ));
    };
    let purpose = LinkPurpose::NewPassword(account.user_id);
    let (secret, hash, link) = generate(purpose, lifetime)?;
    let change = parlor_storage::Change::Account(AccountChange::AddLink { link, hash });
    let committed = storage.commit(clock::now(), &[change]).await?;
    for outcome in committed.outcomes {
        outcome?;
    }
    Ok(path(purpose, &secret))
}

impl Accounts {
    /// Makes an invitation. Returns its path.
    pub async fn invite(&self, by: &Actor, role: Role) -> Result<String, ApiError> {
        self.add_link(by, LinkPurpose::Invitation(role)).await
    }

    /// Makes a link with which a user sets a new password. Returns its path.
    pub async fn new_password_link(&self, by: &Actor, user_id: UserId) -> Result<String, ApiError> {
        if self.storage.account(user_id).await?.is_none() {
            return Err(crate::app::not_found());
        }
        self.add_link(by, LinkPurpose::NewPassword(user_id)).await
    }

    async fn add_link(&self, by: &Actor, purpose: LinkPurpose) -> Result<String, ApiError> {
        let (secret, hash, link) = generate(purpose, self.settings.link_lifetime)?;
        self.submit_by(by, AccountChange::AddLink { link, hash }).await?;
        Ok(path(purpose, &secret))
    }

    /// Returns the purpose of a valid link.
    pub async fn link_purpose(&self, secret: &str) -> Result<LinkPurpose, ApiError> {
        let hash = secret::parse(secret, "").ok_or_else(invalid_link)?;
        let link = self.storage.account_link(&hash).await?;
        let link = link.filter(|link| link.expires_at > clock::now());
        Ok(link.ok_or_else(invalid_link)?.purpose)
    }

    /// Returns the valid links, newest first.
    pub async fn links(&self) -> Result<Vec<AccountLink>, StorageError> {
        let mut links = self.storage.account_links().await?;
        let now = clock::now();
        links.retain(|link| link.expires_at > now);
        Ok(links)
    }

    /// Deletes a link.
    pub async fn delete_link(&self, by: &Actor, link_id: LinkId) -> Result<(), ApiError> {
        self.submit_by(by, AccountChange::DeleteLink { link_id }).await
    }

    /// Sets a new password by a link, which ends all sessions and API tokens of the account. Returns the user.
    pub async fn reset_password(&self, secret: &str, password: &str) -> Result<UserId, ApiError> {
        let LinkPurpose::NewPassword(user_id) = self.link_purpose(secret).await? else {
            return Err(invalid_link());
        };
        let account = self.storage.account(user_id).await?;
        let account = account.filter(|account| !account.is_disabled);
        let account = account.ok_or_else(invalid_link)?;
        self.passwords.check(password, &account.name)?;
        let password = self.passwords.hash(password).await?;
        self.submit(AccountChange::SetPassword {
            user_id,
            password,
            link: secret::parse(secret, ""),
            except: None,
        })
        .await?;
        Ok(user_id)
    }
}
