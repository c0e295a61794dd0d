//! The pages of accounts: signing in, setup, invitations, and the user's own account. Plain documents with forms, without
//! scripts: they work where nothing else of Parlor is loaded, and cost the other pages nothing.
//!
//! - [`cookie`]: the cookies of a session
//! - [`page`]: the common parts of the pages
//! - [`entry`]: the pages for people who are not signed in: sign-in and setup
//! - [`joining`]: the pages for a new account or a new password
//! - [`provider`]: signing in at an OpenID provider
//! - [`own`]: the user's own account
//! - [`users`], [`deletion`]: the administrator's page; [`audit`]: who did what
//! - [`usage`]: the tokens and the cost of users by day

mod audit;
pub mod cookie;
mod deletion;
mod entry;
mod joining;
mod own;
mod page;
mod provider;
mod usage;
mod users;

#[cfg(test)]
mod tests;

use std::ops::Deref;

use axum::{
    Router,
    extract::FromRequestParts,
    http::{Uri, request::Parts},
    routing::{get, post},
};

use self::page::NoAccounts;
pub use self::page::whole_seconds;
use crate::{
    app::{
        AppState,
        access::{Access, Credential},
    },
    http::client::Client,
};
use parlor_base::settings::AuthMode;
use parlor_protocol::{ApiError, ErrorCode, SessionId};
use parlor_storage::{
    accounts::{Account, Role},
    audit::Actor,
};

/// The page for signing in.
pub const SIGN_IN_PATH: &str = "/sign-in";

/// The page for the first account.
pub const SETUP_PATH: &str = "/setup";

/// Returns the routes of the pages.
pub fn routes() -> Router<AppState> {
    Router::new()
        .route("/sign-in", get(entry::sign_in_page).post(entry::sign_in))
        .route("/sign-in/start", get(provider::start))
        .route("/sign-in/callback", get(provider::finish))
        .route("/setup", get(entry::setup_page).post(entry::set_up))
        .route("/sign-up", get(joining::sign_up_page).post(joining::sign_up))
        .route(
            "/invitation/{secret}",
            get(joining::invitation_page).post(joining::accept_invitation),
        )
        .route(
            "/new-password/{secret}",
            get(joining::new_password_page).post(joining::set_new_password),
        )
        .route("/sign-out", post(own::sign_out))
        .route("/account", get(own::show))
        .route("/account/password", post(own::change_password))
        .route("/account/session/end", post(own::end_session))
        .route("/account/sessions/end", post(own::end_all_sessions))
        .route("/account/usage", get(usage::show_own))
        .route("/account/users", get(users::show))
        .route("/account/users/usage", get(usage::show_all))
        .route("/account/users/invite", post(users::invite))
        .route("/account/users/uninvite", post(users::delete_link))
        .route("/account/users/password", post(users::new_password_link))
        .route("/account/audit", get(audit::show))
        .route("/account/users/role", post(users::set_role))
        .route("/account/users/disable", post(users::disable))
        .route("/account/users/enable", post(users::enable))
        .route("/account/users/delete", post(deletion::delete))
}

/// Returns true if people who are not signed in may open a path.
pub fn is_public(path: &str) -> bool {
    let link = path
        .strip_prefix("/invitation/")
        .or_else(|| path.strip_prefix("/new-password/"));
    matches!(
        path,
        "/sign-in" | "/sign-in/start" | "/sign-in/callback" | "/setup" | "/sign-up"
    ) || link.is_some_and(|secret| !secret.is_empty() && !secret.contains('/'))
}

/// Returns the path of the page for signing in, which then redirects to the requested page.
pub fn sign_in_path(uri: &Uri) -> String {
    let next = uri.path_and_query().map_or("/", |path| path.as_str());
    if next == "/" {
        return SIGN_IN_PATH.to_owned();
    }
    let next = percent_encoding::utf8_percent_encode(next, percent_encoding::NON_ALPHANUMERIC);
    format!("{SIGN_IN_PATH}?next={next}")
}

/// The signed-in user of a request.
pub struct SignedIn {
    pub app: AppState,
    pub account: Account,
    /// The session; none if a proxy authenticates.
    pub session: Option<SessionId>,
    pub client: Client,
}

impl FromRequestParts<AppState> for SignedIn {
    type Rejection = NoAccounts;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, NoAccounts> {
        let extensions = &parts.extensions;
        let (Some(account), Some(client)) = (extensions.get::<Account>(), extensions.get::<Client>()) else {
            return Err(NoAccounts);
        };
        let session = match extensions.get::<Access>().map(|access| &access.credential) {
            Some(Credential::Session { id, .. }) => Some(*id),
            _ => None,
        };
        Ok(Self {
            app: app.clone(),
            account: account.clone(),
            session,
            client: *client,
        })
    }
}

impl SignedIn {
    /// Returns the user as the actor of a change.
    fn actor(&self) -> Actor {
        Actor {
            user_id: self.account.user_id,
            address: self.client.address.to_string(),
            signs_in_by: self.app.accounts.sign_in_way(),
        }
    }

    /// Checks the user's role.
    fn require_administrator(&self) -> Result<(), ApiError> {
        match self.account.role {
            Role::Administrator => Ok(()),
            Role::Member => Err(ApiError::new(
                ErrorCode::Forbidden,
                "Only administrators can see and change other accounts. Nothing was changed.",
            )),
        }
    }
}

/// A request to a page that only servers with sessions have: with passwords, or with a provider.
pub struct Visitor {
    pub app: AppState,
    pub client: Client,
}

impl Visitor {
    /// Creates the visitor, if the server has one of these modes.
    fn new(parts: &Parts, app: &AppState, modes: &[AuthMode]) -> Result<Self, NoAccounts> {
        let client = parts.extensions.get::<Client>();
        let client = client.filter(|_| modes.contains(&app.accounts.mode()));
        let client = *client.ok_or(NoAccounts)?;
        Ok(Self {
            app: app.clone(),
            client,
        })
    }
}

impl FromRequestParts<AppState> for Visitor {
    type Rejection = NoAccounts;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, NoAccounts> {
        Self::new(parts, app, &[AuthMode::Password, AuthMode::Oidc])
    }
}

/// A request to a page that only servers with passwords have.
pub struct WithPasswords(Visitor);

impl Deref for WithPasswords {
    type Target = Visitor;

    fn deref(&self) -> &Visitor {
        &self.0
    }
}

impl FromRequestParts<AppState> for WithPasswords {
    type Rejection = NoAccounts;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, NoAccounts> {
        Visitor::new(parts, app, &[AuthMode::Password]).map(Self)
    }
}
