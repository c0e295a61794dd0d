//! The identity of a request, and the rejection of those without one.

use axum::http::{HeaderMap, Method};

use super::{
    accounts::{self, SETUP_PATH, cookie},
    client::Client,
    error_response::{accepts_html, is_program_path},
    health::is_health_path,
    origin::RequestHead,
    security::{Admission, is_api, is_rpc},
    shared,
};
use crate::{
    app::{
        AppState,
        access::{Access, Credential},
        tokens::unauthorized,
    },
    assets,
};
use parlor_base::settings::AuthMode;
use parlor_protocol::{ApiError, ErrorCode};
use parlor_storage::accounts::Account;

/// The user of a request.
#[derive(Default)]
pub struct Identity {
    pub access: Option<Access>,
    /// The account; none for a token.
    pub account: Option<Account>,
}

impl Identity {
    /// Returns true if the request may open a path: without accounts any, otherwise a public path or one for signed-in users.
    pub fn may_open(&self, app: &AppState, path: &str) -> bool {
        app.accounts.mode() == AuthMode::None
            || self.access.is_some()
            || is_health_path(path)
            || assets::is_asset(path)
            || accounts::is_public(path)
            || shared::is_public(path)
    }
}

/// Identifies the user of a request.
///
/// # Errors
///
/// If a token is invalid, the account is disabled, or the request did not come from the proxy that authenticates.
pub async fn identify(app: &AppState, head: RequestHead<'_>, client: &Client) -> Result<Identity, ApiError> {
    let path = head.uri.path();
    // It is open to everybody, so nothing in the request may count: no token, no session, no header of a proxy.
    if is_health_path(path) {
        return Ok(Identity::default());
    }
    if app.accounts.mode() == AuthMode::Proxy && !client.is_proxied {
        tracing::warn!(address = %client.address, "refused a request that did not come from a named proxy");
        return Err(ApiError::new(
            ErrorCode::Forbidden,
            "This Parlor answers only through its proxy. If this is the proxy, add its address to the setting server.proxies and \
             start Parlor again.",
        ));
    }
    if is_api(path)
        && let Some(access) = app.tokens.authenticate(head.headers).await?
    {
        return Ok(Identity {
            access: Some(access),
            account: None,
        });
    }
    match app.accounts.mode() {
        AuthMode::None => Ok(Identity::default()),
        AuthMode::Password | AuthMode::Oidc if assets::is_asset(path) => Ok(Identity::default()),
        AuthMode::Password | AuthMode::Oidc => by_session(app, head.headers, client).await,
        AuthMode::Proxy => by_proxy(app, head.headers).await,
    }
}

async fn by_session(app: &AppState, headers: &HeaderMap, client: &Client) -> Result<Identity, ApiError> {
    let Some(secret) = cookie::session_secret(headers, client) else {
        return Ok(Identity::default());
    };
    let found = app.accounts.authenticate_session(&secret, client.address).await?;
    Ok(found.map_or_else(Identity::default, |session| Identity {
        access: Some(session.access),
        account: Some(session.account),
    }))
}

/// Identifies the user whom the proxy names. The caller has checked that it is one.
async fn by_proxy(app: &AppState, headers: &HeaderMap) -> Result<Identity, ApiError> {
    let mut values = headers.get_all(&app.settings.accounts.user_header).iter();
    let (first, second) = (values.next(), values.next());
    let Some(name) = first else {
        return Ok(Identity::default());
    };
    let name = std::str::from_utf8(name.as_bytes())
        .ok()
        .filter(|_| second.is_none());
    let Some(name) = name else {
        let message = "The proxy named no valid user, or more than one. Nothing was done.";
        return Err(ApiError::new(ErrorCode::Forbidden, message));
    };
    let account = app.accounts.proxied_account(name).await?;
    if account.is_disabled {
        let message = "Your account here is disabled. Nothing was done; ask an administrator.";
        return Err(ApiError::new(ErrorCode::Forbidden, message));
    }
    Ok(Identity {
        access: Some(Access {
            user_id: account.user_id,
            credential: Credential::Proxy,
        }),
        account: Some(account),
    })
}

/// Rejects a request without an identity. People who open a page are led to the one for signing in; a form is refused, so
/// that going back finds its text.
pub async fn reject(app: &AppState, head: RequestHead<'_>) -> Result<Admission, ApiError> {
    let path = head.uri.path();
    if is_rpc(path) {
        return Err(ApiError::new(
            ErrorCode::SignedOut,
            "You are signed out. What you wrote is kept in this browser; sign in again to go on.",
        ));
    }
    if app.accounts.mode() == AuthMode::Proxy {
        let message =
            "The proxy named no user (setting accounts.user_header). Nothing was done; sign in there.";
        return Err(unauthorized(message));
    }
    if is_program_path(path) || !accepts_html(head.headers) {
        let message =
            "This needs an API token from Parlor’s settings, as “Authorization: Bearer …”. Nothing was done.";
        return Err(unauthorized(message));
    }
    if !matches!(*head.method, Method::GET | Method::HEAD) {
        let message = "You are signed out. Nothing was done. Go back: your text is still in the form. Sign in in another tab, then send \
                   it again.";
        return Err(unauthorized(message));
    }
    let page = if app.accounts.needs_setup().await? {
        SETUP_PATH.to_owned()
    } else {
        accounts::sign_in_path(head.uri)
    };
    Ok(Admission::SignIn(page))
}
