//! The administrator's page: users, invitations, links for new passwords.

use axum::{
    extract::{Form, Query, rejection::FormRejection},
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use leptos::prelude::*;
use serde::Deserialize;

use super::{
    SignedIn,
    page::{self, failure, redirect},
};
use crate::{
    app,
    clock::format_minute,
    protocol::{ApiError, LinkId, UserId},
    settings::AuthMode,
    storage::accounts::{Account, AccountLink, LinkPurpose, Role},
};

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
    sure: String,
}

type FormInput = Result<Form<UsersForm>, FormRejection>;

/// `GET /account/users`
pub async fn show(admin: SignedIn, Query(query): Query<UsersQuery>) -> Response {
    let done = match query.done.as_str() {
        "disabled" => Some("The account was disabled, and its devices were signed out."),
        "enabled" => Some("The account can be used again."),
        "deleted" => Some("The account and everything of its user were deleted."),
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
            user_row(
                account,
                account.user_id == admin.account.user_id,
                since,
                has_passwords,
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
        </div>
        <section class="settings-section" aria-labelledby="users-accounts">
            <h2 id="users-accounts">"Accounts"</h2>
            <ul class="settings-list">{rows}</ul>
        </section>
        {invitations}
    };
    Ok(page::respond(StatusCode::OK, "Users", content))
}

fn user_row(account: &Account, is_self: bool, since: String, has_passwords: bool) -> impl IntoView + use<> {
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
    let state = account.is_disabled.then_some(" · disabled");
    let own = is_self.then_some(" · you");
    let quiet = "button button-quiet";
    let actions = (!is_self).then(|| {
        let switch = match account.is_disabled {
            true => button("enable", "Enable", quiet),
            false => button("disable", "Disable", quiet),
        };
        let password =
            (has_passwords && !account.is_disabled).then(|| button("password", "New password link", quiet));
        view! { {password} {switch} {button("delete", "Delete…", "button button-quiet")} }
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

fn link_row(link: &AccountLink, what: String, until: String) -> impl IntoView + use<> {
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
fn read(admin: &SignedIn, form: FormInput) -> Result<UsersForm, ApiError> {
    admin.require_administrator()?;
    form.map(|Form(form)| form).map_err(|_| app::not_found())
}

fn parse_user(form: &UsersForm) -> Result<UserId, ApiError> {
    form.user.parse().map_err(|_| app::not_found())
}

fn done(outcome: Result<&'static str, ApiError>) -> Response {
    match outcome {
        Ok(path) => redirect(path),
        Err(error) => failure("Nothing was changed", &error),
    }
}

/// `POST /account/users/invite`
pub async fn invite(admin: SignedIn, headers: HeaderMap, form: FormInput) -> Response {
    let made = async {
        let form = read(&admin, form)?;
        admin.app.accounts.invite(Role::from_name(&form.role)).await
    };
    new_link_page(
        made.await,
        site_address(&headers),
        "Send this link to the person. It works once, for a new account.",
    )
}

/// `POST /account/users/password`
pub async fn new_password_link(admin: SignedIn, headers: HeaderMap, form: FormInput) -> Response {
    let made = async {
        let form = read(&admin, form)?;
        admin.app.accounts.new_password_link(parse_user(&form)?).await
    };
    new_link_page(
        made.await,
        site_address(&headers),
        "Send this link to the user. It works once, to set a new password.",
    )
}

/// Returns the scheme and the host of this site as the administrator's browser has them; empty if it does not say. A proxy
/// may send a `Host` of its own, and the `Origin` of a form is checked before.
fn site_address(headers: &HeaderMap) -> &str {
    let origin = headers.get(header::ORIGIN);
    origin.and_then(|origin| origin.to_str().ok()).unwrap_or_default()
}

fn new_link_page(made: Result<String, ApiError>, site: &str, about: &'static str) -> Response {
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
pub async fn delete_link(admin: SignedIn, form: FormInput) -> Response {
    let deleted = async {
        let form = read(&admin, form)?;
        let link: LinkId = form.link.parse().map_err(|_| app::not_found())?;
        admin.app.accounts.delete_link(link).await?;
        Ok("/account/users?done=link")
    };
    done(deleted.await)
}

/// `POST /account/users/disable`
pub async fn disable(admin: SignedIn, form: FormInput) -> Response {
    let disabled = async {
        let user_id = parse_user(&read(&admin, form)?)?;
        admin.app.accounts.set_disabled(user_id, true).await?;
        Ok("/account/users?done=disabled")
    };
    done(disabled.await)
}

/// `POST /account/users/enable`
pub async fn enable(admin: SignedIn, form: FormInput) -> Response {
    let enabled = async {
        let user_id = parse_user(&read(&admin, form)?)?;
        admin.app.accounts.set_disabled(user_id, false).await?;
        Ok("/account/users?done=enabled")
    };
    done(enabled.await)
}

/// `POST /account/users/delete`: asks first.
pub async fn delete(admin: SignedIn, form: FormInput) -> Response {
    let read = async {
        let form = read(&admin, form)?;
        let account = admin.app.accounts.account(parse_user(&form)?).await?;
        Ok((account.ok_or_else(app::not_found)?, !form.sure.is_empty()))
    };
    let (account, is_sure) = match read.await {
        Ok(read) => read,
        Err(error) => return failure("Nothing was changed", &error),
    };
    if !is_sure {
        return confirm_deletion(&account);
    }
    let deleted = app::accounts::delete_user(&admin.app, account.user_id).await;
    done(deleted.map(|()| "/account/users?done=deleted"))
}

fn confirm_deletion(account: &Account) -> Response {
    let content = view! {
        <p>
            "Delete the account " <strong>{account.name.clone()}</strong>
            " with all conversations, files and settings of its user? This cannot be undone."
        </p>
        <form method="post" action="/account/users/delete">
            <input type="hidden" name="user" value=account.user_id.to_string()/>
            <input type="hidden" name="sure" value="yes"/>
            <button type="submit" class="button button-danger">"Delete everything of this user"</button>
        </form>
        <div class="account-actions">
            <a class="button" href="/account/users">"Keep it"</a>
        </div>
    };
    page::respond(StatusCode::OK, "Delete an account", content)
}
