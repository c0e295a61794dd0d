//! The pages of accounts: signing in, setup, invitations, and tabs of the settings. Their forms work without scripts. The pages
//! for signing in are plain documents: they work where nothing else of Parlor is loaded.
//!
//! - [`cookie`]: the cookies of a session
//! - [`page`]: the common parts of the pages; [`frame`]: the documents around them; [`texts`]: what they say
//! - [`entry`]: the pages for people who are not signed in: sign-in and setup
//! - [`joining`]: the pages for a new account or a new password
//! - [`provider`]: signing in at an OpenID provider
//! - [`own`], [`devices`]: the user's own account
//! - [`users`], [`deletion`], [`invitations`]: the administrators' pages; [`audit`]: who did what
//! - [`usage`]: the tokens and the cost of users by day
//! - [`system`]: the check of the machine and the settings

mod audit;
pub mod cookie;
mod deletion;
mod devices;
mod entry;
mod frame;
mod invitations;
mod joining;
mod own;
mod page;
mod provider;
mod system;
mod texts;
mod usage;
mod users;

#[cfg(test)]
mod tests;

use std::ops::Deref;

use axum::{
    Router,
    extract::FromRequestParts,
    http::{HeaderMap, Method, Uri, request::Parts, uri::Authority},
    middleware,
    response::{Redirect, Response},
    routing::{get, post},
};

use self::page::NoAccounts;
pub use self::page::whole_seconds;
use crate::{
    app::{
        AppState,
        access::{Access, Credential},
    },
    http::{client::Client, origin::RequestHead},
};
use parlor_base::settings::AuthMode;
use parlor_protocol::{ApiError, ErrorCode, SessionId};
use parlor_storage::{
    accounts::{Account, Role},
    audit::Actor,
};
use parlor_ui::Person;

/// The page for signing in.
pub const SIGN_IN_PATH: &str = "/sign-in";

/// The page for the first account.
pub const SETUP_PATH: &str = "/setup";

/// Returns the routes of the pages.
pub fn routes(app: &AppState) -> Router<AppState> {
    let entry = Router::new()
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
        .layer(middleware::from_fn(frame::card));
    // Tabs of the settings, and the forms in them: `crates/ui/src/state/settings_tab.rs` knows them by their first part.
    let settings = Router::new()
        .route("/settings/account", get(own::show))
        .route("/settings/devices", get(devices::show))
        .route("/settings/usage", get(usage::show_own))
        .route("/settings/usage/all", get(usage::show_all))
        .route("/settings/users", get(users::show))
        .route("/settings/invitations", get(invitations::show))
        .route("/settings/audit", get(audit::show))
        .route("/settings/system", get(system::show))
        .route(
            "/settings/account/password",
            get(to_tab).post(own::change_password),
        )
        .route("/settings/devices/end", get(to_tab).post(devices::end_session))
        .route(
            "/settings/devices/end-all",
            get(to_tab).post(devices::end_all_sessions),
        )
        .route(
            "/settings/users/password",
            get(to_tab).post(users::new_password_link),
        )
        .route("/settings/users/role", get(to_tab).post(users::set_role))
        .route("/settings/users/disable", get(to_tab).post(users::disable))
        .route("/settings/users/enable", get(to_tab).post(users::enable))
        .route("/settings/users/delete", get(to_tab).post(deletion::delete))
        .route(
            "/settings/invitations/invite",
            get(to_tab).post(invitations::invite),
        )
        .route(
            "/settings/invitations/withdraw",
            get(to_tab).post(invitations::delete_link),
        )
        .layer(middleware::from_fn_with_state(app.clone(), frame::shell));
    let earlier = Router::new()
        .route("/account", get(moved))
        .route("/account/usage", get(moved))
        .route("/account/users", get(moved))
        .route("/account/users/usage", get(moved))
        .route("/account/audit", get(moved));
    entry.merge(settings).merge(earlier)
}

/// `GET` of a form's URL, which people reach by *Back* and by signing in again: leads to the tab with the form.
async fn to_tab(uri: Uri) -> Response {
    page::redirect(frame::page_of_form(uri.path()))
}

/// Redirects from the addresses of earlier versions.
async fn moved(uri: Uri) -> Redirect {
    let path = match uri.path() {
        "/account/usage" => "/settings/usage",
        "/account/users" => "/settings/users",
        "/account/users/usage" => "/settings/usage/all",
        "/account/audit" => "/settings/audit",
        _ => "/settings/account",
    };
    let query = uri.query().map_or_else(String::new, |query| format!("?{query}"));
    Redirect::permanent(&format!("{path}{query}"))
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

/// Returns the person of a request, for the page.
pub fn person(app: &AppState, parts: &Parts) -> Option<Person> {
    let account = parts.extensions.get::<Account>()?;
    let access = parts.extensions.get::<Access>();
    Some(Person {
        name: account.name.clone(),
        is_administrator: account.role == Role::Administrator,
        has_session: access.is_some_and(|access| matches!(access.credential, Credential::Session { .. })),
        has_password: app.accounts.mode() == AuthMode::Password,
        may_bring_keys: app.endpoints.allows_own_keys(),
    })
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
            Role::Member => Err(ApiError::new(ErrorCode::Forbidden, texts::ONLY_ADMINISTRATORS)),
        }
    }
}

/// Returns the host that a request names.
fn named_host(method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    let head = RequestHead { method, uri, headers };
    head.named_host().ok()
}

/// A request to a page that only servers with sessions have: with passwords, or with a provider.
pub struct Visitor {
    pub app: AppState,
    pub client: Client,
    /// The name or address under which the browser reaches Parlor.
    pub host: Option<Authority>,
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
            host: named_host(&parts.method, &parts.uri, &parts.headers),
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
