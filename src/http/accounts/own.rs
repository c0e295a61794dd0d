//! The user's own account: the password, and the devices on which they are signed in.

use axum::{
    extract::{
        Form, Query,
        rejection::{FormRejection, QueryRejection},
    },
    http::{HeaderMap, header},
    response::Response,
};
use jiff::tz::TimeZone;
use leptos::prelude::*;
use serde::Deserialize;

use super::{
    SIGN_IN_PATH, SignedIn, cookie,
    page::{self, FormError, failure, invalid_form, password_field, redirect},
    provider,
};
use crate::app::{self, accounts::ClientAddress};
use parlor_base::{clock::format_minute, settings::AuthMode};
use parlor_protocol::{ApiError, ErrorCode, SessionId};
use parlor_storage::accounts::{Role, Session};

/// The message above the page.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct AccountQuery {
    done: String,
}

/// `GET /account`
pub async fn show(user: SignedIn, query: Result<Query<AccountQuery>, QueryRejection>) -> Response {
    let Query(query) = query.unwrap_or_default();
    let done = match query.done.as_str() {
        "password" => Some(
            "The password was changed. All other devices were signed out, and your API tokens have ended.",
        ),
        "session" => Some("That device was signed out."),
        _ => None,
    };
    account_page(&user, done, None).await
}

async fn account_page(user: &SignedIn, done: Option<&'static str>, error: Option<FormError>) -> Response {
    let sessions = match user.app.accounts.sessions(user.account.user_id).await {
        Ok(sessions) => sessions,
        Err(error) => return failure("Not available", &error.into()),
    };
    let zone = &user.app.settings.history.time_zone();
    let rows: Vec<_> = sessions
        .into_iter()
        .map(|session| session_row(session, user.session, zone))
        .collect();
    let name = user.account.name.clone();
    let users = (user.account.role == Role::Administrator)
        .then(|| view! { <a class="button" href="/account/users">"Users and invitations"</a> });
    let has_password = user.app.accounts.mode() == AuthMode::Password;
    let with_password = (user.session.is_some() && has_password).then(|| {
        view! {
            <section class="settings-section" aria-labelledby="account-password">
                <h2 id="account-password">"Password"</h2>
                <form method="post" action="/account/password">
                    <input type="hidden" name="name" value=name.clone() autocomplete="username"/>
                    {password_field("Old password", "old", "current-password", false)}
                    {password_field("New password", "password", "new-password", false)}
                    {password_field("New password again", "again", "new-password", false)}
                    {page::password_rules(&user.app.accounts)}
                    <p class="account-note">"All other devices will be signed out, and your API tokens will end."</p>
                    <button type="submit" class="button">"Change the password"</button>
                </form>
            </section>
        }
    });
    let devices = user.session.is_some().then(|| {
        view! {
            <section class="settings-section" aria-labelledby="account-devices">
                <h2 id="account-devices">"Devices"</h2>
                <ul class="settings-list">{rows}</ul>
                <form method="post" action="/account/sessions/end">
                    <button type="submit" class="button button-warning">"Sign out everywhere"</button>
                </form>
            </section>
        }
    });
    let sign_out = user.session.is_some().then(|| {
        view! {
            <form method="post" action="/sign-out">
                <button type="submit" class="button">"Sign out"</button>
            </form>
        }
    });
    let done = done.map(|done| view! { <p class="account-done" role="status">{done}</p> });
    let content = view! {
        {done}
        <p>"You are signed in as " <strong>{user.account.name.clone()}</strong> "."</p>
        <div class="account-actions">
            <a class="button" href="/">"Back to Parlor"</a>
            <a class="button" href="/account/usage">"Usage"</a>
            {users}
            {sign_out}
        </div>
        {with_password}
        {devices}
    };
    page::form("Your account", error, content)
}

pub(super) fn session_row(
    session: Session,
    current: Option<SessionId>,
    zone: &TimeZone,
) -> impl IntoView + use<> {
    let is_current = current == Some(session.id);
    let state = if is_current {
        "This device".to_owned()
    } else {
        format!("Last used {}", format_minute(session.last_used_at, zone))
    };
    let since = format_minute(session.created_at, zone);
    view! {
        <li class="account-row">
            <div>
                <strong>{session.device}</strong>
                <p class="settings-facts">{state} " · " {session.address} " · signed in " {since}</p>
            </div>
            <form method="post" action="/account/session/end">
                <input type="hidden" name="session" value=session.id.to_string()/>
                <button type="submit" class="button button-quiet">"Sign out"</button>
            </form>
        </li>
    }
}

/// The fields of the password form.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct PasswordForm {
    old: String,
    password: String,
    again: String,
}

/// `POST /account/password`
pub async fn change_password(user: SignedIn, form: Result<Form<PasswordForm>, FormRejection>) -> Response {
    let changed = async {
        let has_password = user.app.accounts.mode() == AuthMode::Password;
        let Some(session) = user.session.filter(|_| has_password) else {
            let message = "You do not sign in with a password here. Nothing was changed.";
            return Err(ApiError::new(ErrorCode::BadRequest, message).into());
        };
        let Form(form) = form.map_err(|rejection| invalid_form(&rejection))?;
        if form.password != form.again {
            let message = "The two new passwords differ. Nothing was changed; write both again.";
            return Err(ApiError::new(ErrorCode::BadRequest, message).into());
        }
        let passwords = (form.old.as_str(), form.password.as_str());
        let from = ClientAddress(user.client.address);
        let accounts = &user.app.accounts;
        accounts
            .change_password(&user.account, passwords, session, from)
            .await?;
        Ok(())
    };
    match changed.await {
        Ok(()) => redirect("/account?done=password"),
        Err(error) => account_page(&user, None, Some(error)).await,
    }
}

/// The field of the button at a session.
#[derive(Deserialize)]
pub struct SessionForm {
    session: String,
}

/// `POST /account/session/end`
pub async fn end_session(
    user: SignedIn,
    headers: HeaderMap,
    form: Result<Form<SessionForm>, FormRejection>,
) -> Response {
    let form = match form {
        Ok(Form(form)) => form,
        Err(rejection) => return account_page(&user, None, Some(invalid_form(&rejection).into())).await,
    };
    let Ok(id) = form.session.parse::<SessionId>() else {
        return account_page(&user, None, Some(app::not_found().into())).await;
    };
    match user.app.accounts.end_session(user.account.user_id, id).await {
        Ok(()) if user.session == Some(id) => signed_out(&user, &headers).await,
        Ok(()) => redirect("/account?done=session"),
        Err(error) => account_page(&user, None, Some(error.into())).await,
    }
}

/// `POST /account/sessions/end`
pub async fn end_all_sessions(user: SignedIn, headers: HeaderMap) -> Response {
    match user.app.accounts.end_all_sessions(user.account.user_id).await {
        Ok(()) => signed_out(&user, &headers).await,
        Err(error) => account_page(&user, None, Some(error.into())).await,
    }
}

/// `POST /sign-out`
pub async fn sign_out(user: SignedIn, headers: HeaderMap) -> Response {
    let ended = async {
        match user.session {
            Some(id) => user.app.accounts.end_session(user.account.user_id, id).await,
            None => Ok(()),
        }
    };
    match ended.await {
        // The button was pressed twice, or the session ended meanwhile.
        Err(error) if error.code != ErrorCode::NotFound => failure("Not signed out", &error),
        _ => signed_out(&user, &headers).await,
    }
}

/// Leads to the page for signing in, over the provider's sign-out if it has one.
async fn signed_out(user: &SignedIn, headers: &HeaderMap) -> Response {
    let elsewhere = match user.app.accounts.provider() {
        Some(at) => provider::sign_out_page(at, headers, &user.client).await,
        None => None,
    };
    let mut response = elsewhere.unwrap_or_else(|| redirect(SIGN_IN_PATH));
    for cookie in cookie::end(&user.client) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}
