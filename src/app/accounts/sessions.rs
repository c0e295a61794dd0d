//! Sessions: signed-in browsers.

use std::{net::IpAddr, time::Duration};

use super::{Accounts, device, secret};
use crate::app::{
    access::{Access, Credential},
    last_uses::MAX_INTERVAL_MS,
};
use parlor_base::{clock, settings::AuthMode};
use parlor_protocol::{ApiError, SessionId, Timestamp, UserId};
use parlor_storage::{
    Change, StorageError,
    accounts::{Account, AccountChange, Session, SignInMethod},
};

/// A new session, with its secret for the cookie.
pub struct NewSession {
    pub secret: String,
    pub user_id: UserId,
    /// The lifetime of the cookie; none ends with the browser.
    pub cookie_lifetime: Option<Duration>,
}

/// A request's session.
pub struct SessionAccess {
    pub account: Account,
    pub access: Access,
}

impl Accounts {
    /// Starts a session, in place of the browser's earlier one.
    pub async fn start_session(
        &self,
        user_id: UserId,
        is_remembered: bool,
        user_agent: &str,
        address: IpAddr,
        earlier: Option<&str>,
    ) -> Result<NewSession, ApiError> {
        let secret = secret::generate("")?;
        let settings = &self.settings;
        let (idle, lifetime) = match is_remembered {
            true => (settings.remembered_lifetime, settings.remembered_lifetime),
            false => (settings.session_idle, settings.session_lifetime),
        };
        let now = clock::now();
        let session = Session {
            id: SessionId::new(),
            device: device::describe(user_agent),
            address: address.to_string(),
            created_at: now,
            last_used_at: now,
            idle_ms: milliseconds(idle),
            expires_at: Timestamp(now.0.saturating_add(milliseconds(lifetime))),
            method: self.sign_in_method(),
        };
        self.submit(AccountChange::StartSession {
            user_id,
            session,
            hash: secret::sha256(&secret),
            replaces: earlier.and_then(|earlier| secret::parse(earlier, "")),
        })
        .await?;
        Ok(NewSession {
            secret,
            user_id,
            cookie_lifetime: is_remembered.then_some(lifetime),
        })
    }

    /// Authenticates the secret of a session. Returns nothing if there is no such session, or it or its account has ended.
    pub async fn authenticate_session(
        &self,
        secret: &str,
        address: IpAddr,
    ) -> Result<Option<SessionAccess>, StorageError> {
        let Some(hash) = secret::parse(secret, "") else {
            return Ok(None);
        };
        let Some((account, session)) = self.storage.session(&hash).await? else {
            return Ok(None);
        };
        if account.is_disabled || session.method != self.sign_in_method() || session.end() <= clock::now() {
            return Ok(None);
        }
        self.record_use(&session, address);
        let credential = Credential::Session { id: session.id, hash };
        let access = Access {
            user_id: account.user_id,
            credential,
        };
        Ok(Some(SessionAccess { account, access }))
    }

    /// Returns the way in which users sign in. Sessions of another one are not valid: the settings have changed since.
    fn sign_in_method(&self) -> SignInMethod {
        match self.mode() {
            AuthMode::Oidc => SignInMethod::Provider,
            AuthMode::None | AuthMode::Password | AuthMode::Proxy => SignInMethod::Password,
        }
    }

    /// Records that a session is used, at most once per interval. Nobody waits for the write.
    fn record_use(&self, session: &Session, address: IpAddr) {
        // A short idle time must not pass between two records.
        let interval_ms = MAX_INTERVAL_MS.min(session.idle_ms / 2);
        let last = Some(session.last_used_at);
        if !self
            .session_uses
            .begin_record(session.id, last, interval_ms, clock::now())
        {
            return;
        }
        let change = AccountChange::UseSession {
            session_id: session.id,
            address: address.to_string(),
        };
        let journal = self.journal.clone();
        tokio::spawn(async move {
            if let Err(error) = journal.submit(Change::Account(change)).await {
                tracing::debug!(%error, "cannot record the use of a session");
            }
        });
    }

    /// Returns the valid sessions of a user, newest first.
    pub async fn sessions(&self, user_id: UserId) -> Result<Vec<Session>, StorageError> {
        let mut sessions = self.storage.sessions(user_id).await?;
        let now = clock::now();
        sessions.retain(|session| session.end() > now);
        Ok(sessions)
    }

    /// Ends a session of a user. Its requests and streams end too.
    pub async fn end_session(&self, user_id: UserId, session_id: SessionId) -> Result<(), ApiError> {
        self.session_uses.forget(session_id);
        self.submit(AccountChange::EndSession { user_id, session_id })
            .await
    }

    /// Ends all sessions of a user.
    pub async fn end_all_sessions(&self, user_id: UserId) -> Result<(), ApiError> {
        self.submit(AccountChange::EndSessions {
            user_id,
            except: None,
        })
        .await
    }
}

/// Returns a duration in milliseconds.
pub(super) fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
