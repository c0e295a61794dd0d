//! The user's own account: the password, and signing out.

use axum::{
    extract::{
        Form, Query,
        rejection::{FormRejection, QueryRejection},
    },
    http::{HeaderMap, header},
    response::Response,
};
use leptos::prelude::*;
use serde::Deserialize;

use super::{
    SIGN_IN_PATH, SignedIn, cookie,
    page::{self, FormError, done_notice, failure, invalid_form, password_field, redirect},
    provider, texts,
};
use crate::app::accounts::ClientAddress;
use parlor_base::settings::AuthMode;
use parlor_protocol::{ApiError, ErrorCode};
use parlor_storage::accounts::Role;

/// The message above a page.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct DoneQuery {
    pub done: String,
}

/// `GET /settings/account`
pub async fn show(user: SignedIn, query: Result<Query<DoneQuery>, QueryRejection>) -> Response {
    let Query(query) = query.unwrap_or_default();
    let done = (query.done == "password").then_some(texts::PASSWORD_CHANGED);
    account_page(&user, done, None)
}

fn account_page(user: &SignedIn, done: Option<&'static str>, error: Option<FormError>) -> Response {
    let name = user.account.name.clone();
    let role = match user.account.role {
        Role::Administrator => texts::YOU_ARE_ADMINISTRATOR,
        Role::Member => texts::YOU_ARE_MEMBER,
    };
    let has_password = user.app.accounts.mode() == AuthMode::Password;
    let with_password = (user.session.is_some() && has_password).then(|| {
        view! {
            <section class="settings-section" aria-labelledby="account-password">
                <h3 id="account-password">{texts::PASSWORD}</h3>
                <form method="post" action="/settings/account/password">
                    <input type="hidden" name="name" value=name.clone() autocomplete="username"/>
                    {password_field(texts::OLD_PASSWORD, "old", "current-password", false)}
                    {password_field(texts::NEW_PASSWORD, "password", "new-password", false)}
                    {password_field(texts::NEW_PASSWORD_AGAIN, "again", "new-password", false)}
                    {page::password_rules(&user.app.accounts)}
                    <p class="account-note">{texts::CHANGE_PASSWORD_WARNING}</p>
                    <button type="submit" class="button button-primary">{texts::CHANGE_PASSWORD}</button>
                </form>
            </section>
        }
    });
    let sign_out = user.session.is_some().then(|| {
        view! {
            <form method="post" action="/sign-out">
                <button type="submit" class="button">{texts::SIGN_OUT}</button>
            </form>
        }
    });
    let [before, after] = texts::SIGNED_IN_AS;
    let content = view! {
        {done_notice(done)}
        <p>{before} <strong>{name.clone()}</strong> {after} {role}</p>
        {sign_out}
        {with_password}
    };
    page::form(texts::ACCOUNT_TITLE, error, content)
}

/// The fields of the password form.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct PasswordForm {
    old: String,
    password: String,
    again: String,
}

/// `POST /settings/account/password`
pub async fn change_password(user: SignedIn, form: Result<Form<PasswordForm>, FormRejection>) -> Response {
    let changed = async {
        let has_password = user.app.accounts.mode() == AuthMode::Password;
        let Some(session) = user.session.filter(|_| has_password) else {
            let message = texts::NO_PASSWORD;
            return Err(ApiError::new(ErrorCode::BadRequest, message).into());
        };
        let Form(form) = form.map_err(|rejection| invalid_form(&rejection))?;
        if form.password != form.again {
            let message = texts::NEW_PASSWORDS_DIFFER;
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
        Ok(()) => redirect("/settings/account?done=password"),
        Err(error) => account_page(&user, None, Some(error)),
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
        Err(error) if error.code != ErrorCode::NotFound => failure(texts::NOT_SIGNED_OUT, &error),
        _ => signed_out(&user, &headers).await,
    }
}

/// Leads to the page for signing in, over the provider's sign-out if it has one.
pub(super) async fn signed_out(user: &SignedIn, headers: &HeaderMap) -> Response {
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
