//! The administrator's page: users, invitations, links for new passwords.

use axum::{
    extract::{
        Form, Query,
        rejection::{FormRejection, QueryRejection},
    },
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use leptos::prelude::*;
use serde::Deserialize;

use super::{
    SignedIn,
    page::{self, failure, invalid_form, redirect},
};
use crate::app;
use parlor_base::{clock::format_minute, settings::AuthMode};
use parlor_protocol::{ApiError, ErrorCode, LinkId, UserId};
use parlor_storage::accounts::{Account, AccountLink, LinkPurpose, Role};

/// The message above the page.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct UsersQuery {
    done: String,
}

/// The fields of the page's forms. A form has some of them.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct UsersForm {
    user: String,
    link: String,
    role: String,
    /// Not empty to confirm a deletion.
    pub(super) sure: String,
    /// The user who gets what a deleted one leaves; empty to delete everything.
    pub(super) heir: String,
}

pub(super) type UsersFormInput = Result<Form<UsersForm>, FormRejection>;

/// `GET /account/users`
pub async fn show(admin: SignedIn, query: Result<Query<UsersQuery>, QueryRejection>) -> Response {
    let Query(query) = query.unwrap_or_default();
    let done = match query.done.as_str() {
        "disabled" => Some(
            "The account was disabled, its devices were signed out, and the links that it had made have ended.",
        ),
        "enabled" => Some("The account can be used again."),
        "deleted" => Some("The account and everything of its user were deleted."),
        "handed-over" => {
            Some("The account was deleted. The other user has its conversations, files and library.")
        }
        "role" => Some(
            "The role was changed. Links that the account had made as an administrator end with that role.",
        ),
        "link" => Some("The link is not valid any more."),
        _ => None,
    };
    match users_page(&admin, done).await {
        Ok(response) => response,
        Err(error) => failure("Users", &error),
    }
}

async fn users_page(admin: &SignedIn, done: Option<&'static str>) -> Result<Response, ApiError> {
    admin.require_administrator()?;
    let accounts = admin.app.accounts.accounts().await?;
    let deletions = admin.app.storage.pending_deletions().await?;
    let links = admin.app.accounts.links().await?;
    let zone = &admin.app.settings.history.time_zone();
    let name_of = |user_id: UserId| {
        let account = accounts.iter().find(|account| account.user_id == user_id);
        account.map_or_else(String::new, |account| account.name.clone())
    };
    let links: Vec<_> = links
        .iter()
        .map(|link| {
            let what = match link.purpose {
                LinkPurpose::Invitation(Role::Administrator) => "Invitation of an administrator".to_owned(),
                LinkPurpose::Invitation(Role::Member) => "Invitation".to_owned(),
                LinkPurpose::NewPassword(user_id) => format!("New password for {}", name_of(user_id)),
            };
            link_row(link, what, format_minute(link.expires_at, zone))
        })
        .collect();
    let has_passwords = admin.app.accounts.mode() == AuthMode::Password;
    let rows: Vec<_> = accounts
        .iter()
        .map(|account| {
            let since = format_minute(account.created_at, zone);
            let is_being_deleted = deletions
                .iter()
                .any(|deletion| deletion.user_id == account.user_id);
            let state = match account.is_disabled {
                true if is_being_deleted => " · being deleted",
                true => " · disabled",
                false => "",
            };
            user_row(
                account,
                account.user_id == admin.account.user_id,
                (state, since),
                has_passwords,
                !admin.app.accounts.has_provided_roles(),
            )
        })
        .collect();
    let invitations = has_passwords.then(|| {
        view! {
            <section class="settings-section" aria-labelledby="users-links">
                <h2 id="users-links">"Invitations and links"</h2>
                <ul class="settings-list">{links}</ul>
                <form method="post" action="/account/users/invite">
                    <label class="field">
                        "Role"
                        <select name="role">
                            <option value="member">"Member"</option>
                            <option value="administrator">"Administrator"</option>
                        </select>
                    </label>
                    <button type="submit" class="button button-primary">"Make an invitation link"</button>
                </form>
            </section>
        }
    });
    let done = done.map(|done| view! { <p class="account-done" role="status">{done}</p> });
    let content = view! {
        {done}
        <div class="account-actions">
            <a class="button" href="/account">"Back to your account"</a>
            <a class="button" href="/account/users/usage">"Usage"</a>
            <a class="button" href="/account/audit">"Audit log"</a>
        </div>
        <section class="settings-section" aria-labelledby="users-accounts">
            <h2 id="users-accounts">"Accounts"</h2>
            <ul class="settings-list">{rows}</ul>
        </section>
        {invitations}
    };
    Ok(page::respond(StatusCode::OK, "Users", content))
}

pub(super) fn user_row(
    account: &Account,
    is_self: bool,
    (state, since): (&'static str, String),
    has_passwords: bool,
    has_own_roles: bool,
) -> impl IntoView + use<> {
    let id = account.user_id.to_string();
    let button = move |action: &'static str, label: &'static str, class: &'static str| {
        view! {
            <form method="post" action=format!("/account/users/{action}")>
                <input type="hidden" name="user" value=id.clone()/>
                <button type="submit" class=class>{label}</button>
            </form>
        }
    };
    let role = match account.role {
        Role::Administrator => "Administrator",
        Role::Member => "Member",
    };
    let own = is_self.then_some(" · you");
    let quiet = "button button-quiet";
    let actions = (!is_self).then(|| {
        let switch = match account.is_disabled {
            true => button("enable", "Enable", quiet),
            false => button("disable", "Disable", quiet),
        };
        let password =
            (has_passwords && !account.is_disabled).then(|| button("password", "New password link", quiet));
        let (other_role, label) = match account.role {
            Role::Administrator => (Role::Member, "Make a member"),
            Role::Member => (Role::Administrator, "Make an administrator"),
        };
        let role = has_own_roles.then(|| {
            view! {
                <form method="post" action="/account/users/role">
                    <input type="hidden" name="user" value=account.user_id.to_string()/>
                    <input type="hidden" name="role" value=other_role.as_str()/>
                    <button type="submit" class=quiet>{label}</button>
                </form>
            }
        });
        view! { {role} {password} {switch} {button("delete", "Delete…", "button button-quiet")} }
    });
    view! {
        <li class="account-row">
            <div>
                <strong>{account.name.clone()}</strong>
                <p class="settings-facts">{role} {own} {state} " · since " {since}</p>
            </div>
            <div class="account-actions">{actions}</div>
        </li>
    }
}

pub(super) fn link_row(link: &AccountLink, what: String, until: String) -> impl IntoView + use<> {
    view! {
        <li class="account-row">
            <div>
                <strong>{what}</strong>
                <p class="settings-facts">"Valid until " {until}</p>
            </div>
            <form method="post" action="/account/users/uninvite">
                <input type="hidden" name="link" value=link.id.to_string()/>
                <button type="submit" class="button button-quiet">"Withdraw"</button>
            </form>
        </li>
    }
}

/// Reads the form of an administrator.
pub(super) fn read(admin: &SignedIn, form: UsersFormInput) -> Result<UsersForm, ApiError> {
    admin.require_administrator()?;
    let form = form.map_err(|rejection| invalid_form(&rejection))?;
    Ok(form.0)
}

pub(super) fn parse_user(form: &UsersForm) -> Result<UserId, ApiError> {
    form.user.parse().map_err(|_| app::not_found())
}

fn done(outcome: Result<&'static str, ApiError>) -> Response {
    match outcome {
        Ok(path) => redirect(path),
        Err(error) => failure("Nothing was changed", &error),
    }
}

/// `POST /account/users/invite`
pub async fn invite(admin: SignedIn, headers: HeaderMap, form: UsersFormInput) -> Response {
    let made = async {
        let form = read(&admin, form)?;
        admin
            .app
            .accounts
            .invite(&admin.actor(), Role::from_name(&form.role))
            .await
    };
    new_link_page(
        made.await,
        browser_origin(&headers),
        "Send this link to the person. It works once, for a new account.",
    )
}

/// `POST /account/users/password`
pub async fn new_password_link(admin: SignedIn, headers: HeaderMap, form: UsersFormInput) -> Response {
    let made = async {
        let form = read(&admin, form)?;
        admin
            .app
            .accounts
            .new_password_link(&admin.actor(), parse_user(&form)?)
            .await
    };
    new_link_page(
        made.await,
        browser_origin(&headers),
        "Send this link to the user. It works once, to set a new password.",
    )
}

/// Returns the scheme and the host of this site as the administrator's browser has them; empty if it does not say. A proxy
/// may send a `Host` of its own, and the `Origin` of a form is checked before.
fn browser_origin(headers: &HeaderMap) -> &str {
    let origin = headers.get(header::ORIGIN);
    origin.and_then(|origin| origin.to_str().ok()).unwrap_or_default()
}

pub(super) fn new_link_page(made: Result<String, ApiError>, site: &str, about: &'static str) -> Response {
    let path = match made {
        Ok(path) => path,
        Err(error) => return failure("No link was made", &error),
    };
    let content = view! {
        <p>{about} " It is shown only now: copy it."</p>
        <p class="account-link"><a href=path.clone()>{[site, &path].concat()}</a></p>
        <div class="account-actions">
            <a class="button" href="/account/users">"Back to the users"</a>
        </div>
    };
    page::respond(StatusCode::OK, "A new link", content)
}

/// `POST /account/users/uninvite`
pub async fn delete_link(admin: SignedIn, form: UsersFormInput) -> Response {
    let deleted = async {
        let form = read(&admin, form)?;
        let link: LinkId = form.link.parse().map_err(|_| app::not_found())?;
        admin.app.accounts.delete_link(&admin.actor(), link).await?;
        Ok("/account/users?done=link")
    };
    done(deleted.await)
}

/// `POST /account/users/disable`
pub async fn disable(admin: SignedIn, form: UsersFormInput) -> Response {
    let disabled = async {
        let user_id = parse_user(&read(&admin, form)?)?;
        admin
            .app
            .accounts
            .set_disabled(&admin.actor(), user_id, true)
            .await?;
        Ok("/account/users?done=disabled")
    };
    done(disabled.await)
}

/// `POST /account/users/role`
pub async fn set_role(admin: SignedIn, form: UsersFormInput) -> Response {
    let changed = async {
        let form = read(&admin, form)?;
        let user_id = parse_user(&form)?;
        if admin.app.accounts.has_provided_roles() {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "The provider’s groups decide the roles (setting accounts.oidc.administrator_groups). Nothing was changed.",
            ));
        }
        let role = Role::from_name(&form.role);
        admin.app.accounts.set_role(&admin.actor(), user_id, role).await?;
        Ok("/account/users?done=role")
    };
    done(changed.await)
}

/// `POST /account/users/enable`
pub async fn enable(admin: SignedIn, form: UsersFormInput) -> Response {
    let enabled = async {
        let user_id = parse_user(&read(&admin, form)?)?;
        admin
            .app
            .accounts
            .set_disabled(&admin.actor(), user_id, false)
            .await?;
        admin.app.runs.resume_queues(user_id);
        Ok("/account/users?done=enabled")
    };
    done(enabled.await)
}
