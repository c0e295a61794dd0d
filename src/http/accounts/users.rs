//! The administrators' page of users: their roles, links for new passwords, and the end of accounts.

use axum::{
    extract::{
        Form, Query,
        rejection::{FormRejection, QueryRejection},
    },
    http::{HeaderMap, StatusCode},
    response::Response,
};
use leptos::prelude::*;
use serde::Deserialize;

use super::{
    SignedIn,
    invitations::{browser_origin, new_link_page},
    own::DoneQuery,
    page::{self, done_notice, failure, invalid_form, redirect, time},
    texts,
};
use crate::app;
use parlor_base::settings::AuthMode;
use parlor_protocol::{ApiError, ErrorCode, UserId};
use parlor_storage::accounts::{Account, Role};

/// The fields of the page's forms. A form has some of them.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct UsersForm {
    user: String,
    pub(super) link: String,
    pub(super) role: String,
    /// Not empty to confirm a deletion.
    pub(super) sure: String,
    /// The user who gets what a deleted one leaves; empty to delete everything.
    pub(super) heir: String,
}

pub(super) type UsersFormInput = Result<Form<UsersForm>, FormRejection>;

/// `GET /settings/users`
pub async fn show(admin: SignedIn, query: Result<Query<DoneQuery>, QueryRejection>) -> Response {
    let Query(query) = query.unwrap_or_default();
    let done = match query.done.as_str() {
        "disabled" => Some(texts::DISABLED),
        "enabled" => Some(texts::ENABLED),
        "deleted" => Some(texts::DELETED),
        "handed-over" => Some(texts::HANDED_OVER),
        "role" => Some(texts::ROLE_CHANGED),
        _ => None,
    };
    match users_page(&admin, done).await {
        Ok(response) => response,
        Err(error) => failure(texts::USERS_TITLE, &error),
    }
}

async fn users_page(admin: &SignedIn, done: Option<&'static str>) -> Result<Response, ApiError> {
    admin.require_administrator()?;
    let accounts = admin.app.accounts.accounts().await?;
    let deletions = admin.app.storage.pending_deletions().await?;
    let zone = &admin.app.settings.history.time_zone();
    let has_passwords = admin.app.accounts.mode() == AuthMode::Password;
    let rows: Vec<_> = accounts
        .iter()
        .map(|account| {
            let is_being_deleted = deletions
                .iter()
                .any(|deletion| deletion.user_id == account.user_id);
            let state = match account.is_disabled {
                true if is_being_deleted => texts::USER_IS_BEING_DELETED,
                true => texts::USER_IS_DISABLED,
                false => "",
            };
            user_row(
                account,
                account.user_id == admin.account.user_id,
                (state, time(account.created_at, zone)),
                has_passwords,
                !admin.app.accounts.has_provided_roles(),
            )
        })
        .collect();
    let content = view! {
        {done_notice(done)}
        <ul class="settings-list">{rows}</ul>
    };
    Ok(page::respond(StatusCode::OK, texts::USERS_TITLE, content))
}

pub(super) fn user_row(
    account: &Account,
    is_self: bool,
    (state, since): (&'static str, AnyView),
    has_passwords: bool,
    has_own_roles: bool,
) -> impl IntoView + use<> {
    let id = account.user_id.to_string();
    let button = move |action: &'static str, label: &'static str, class: &'static str| {
        view! {
            <form method="post" action=format!("/settings/users/{action}")>
                <input type="hidden" name="user" value=id.clone()/>
                <button type="submit" class=class>{label}</button>
            </form>
        }
    };
    let role = match account.role {
        Role::Administrator => texts::ADMINISTRATOR,
        Role::Member => texts::MEMBER,
    };
    let own = is_self.then(|| view! { <span>{texts::USER_IS_YOU}</span> });
    let state = (!state.is_empty()).then(|| view! { <span>{state}</span> });
    let quiet = "button button-quiet";
    let actions = (!is_self).then(|| {
        let switch = match account.is_disabled {
            true => button("enable", texts::ENABLE, quiet),
            false => button("disable", texts::DISABLE, quiet),
        };
        let password = (has_passwords && !account.is_disabled)
            .then(|| button("password", texts::MAKE_PASSWORD_LINK, quiet));
        let (other_role, label) = match account.role {
            Role::Administrator => (Role::Member, texts::MAKE_MEMBER),
            Role::Member => (Role::Administrator, texts::MAKE_ADMINISTRATOR),
        };
        let role = has_own_roles.then(|| {
            view! {
                <form method="post" action="/settings/users/role">
                    <input type="hidden" name="user" value=account.user_id.to_string()/>
                    <input type="hidden" name="role" value=other_role.as_str()/>
                    <button type="submit" class=quiet>{label}</button>
                </form>
            }
        });
        view! { {role} {password} {switch} {button("delete", texts::DELETE_USER, "button button-quiet")} }
    });
    view! {
        <li class="account-row">
            <div>
                <strong>{account.name.clone()}</strong>
                <p class="settings-facts"><span>{role}</span> {own} {state} <span>{texts::USER_SINCE} {since}</span></p>
            </div>
            <div class="account-actions account-quiet">{actions}</div>
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

pub(super) fn done(outcome: Result<&'static str, ApiError>) -> Response {
    match outcome {
        Ok(path) => redirect(path),
        Err(error) => failure(texts::NOTHING_CHANGED, &error),
    }
}

/// `POST /settings/users/password`
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
        "/settings/users",
        made.await,
        browser_origin(&headers),
        texts::PASSWORD_LINK_HINT,
    )
}

/// `POST /settings/users/disable`
pub async fn disable(admin: SignedIn, form: UsersFormInput) -> Response {
    let disabled = async {
        let user_id = parse_user(&read(&admin, form)?)?;
        admin
            .app
            .accounts
            .set_disabled(&admin.actor(), user_id, true)
            .await?;
        Ok("/settings/users?done=disabled")
    };
    done(disabled.await)
}

/// `POST /settings/users/role`
pub async fn set_role(admin: SignedIn, form: UsersFormInput) -> Response {
    let changed = async {
        let form = read(&admin, form)?;
        let user_id = parse_user(&form)?;
        if admin.app.accounts.has_provided_roles() {
            return Err(ApiError::new(ErrorCode::BadRequest, texts::ROLES_ARE_PROVIDED));
        }
        let role = Role::from_name(&form.role);
        admin.app.accounts.set_role(&admin.actor(), user_id, role).await?;
        Ok("/settings/users?done=role")
    };
    done(changed.await)
}

/// `POST /settings/users/enable`
pub async fn enable(admin: SignedIn, form: UsersFormInput) -> Response {
    let enabled = async {
        let user_id = parse_user(&read(&admin, form)?)?;
        admin
            .app
            .accounts
            .set_disabled(&admin.actor(), user_id, false)
            .await?;
        admin.app.runs.resume_queues(user_id);
        Ok("/settings/users?done=enabled")
    };
    done(enabled.await)
}
