//! The pages for a new account, by open sign-up or an invitation, and for a new password.

use axum::{extract::Path, http::HeaderMap, response::Response};
use leptos::prelude::*;

use super::{
    SETUP_PATH, WithPasswords,
    entry::{EntryForm, FormInput, read, start_session},
    page::{self, FormError, failure, name_field, password_field, password_rules, redirect},
    texts,
};
use crate::app::accounts::{
    ClientAddress,
    links::{self, invalid_link},
};
use parlor_base::settings::SignUp;
use parlor_protocol::{ApiError, ErrorCode};
use parlor_storage::accounts::LinkPurpose;

/// `GET /sign-up`
pub async fn sign_up_page(to: WithPasswords) -> Response {
    match to.app.accounts.needs_setup().await {
        Ok(false) => {}
        Ok(true) => return redirect(SETUP_PATH),
        Err(error) => return failure(texts::NOT_AVAILABLE, &error.into()),
    }
    match to.app.accounts.sign_up_mode() {
        SignUp::Open => new_account_form(&to, "/sign-up".into(), EntryForm::default(), None),
        SignUp::Invitation | SignUp::Closed => closed_page(),
    }
}

fn closed_page() -> Response {
    let message = texts::CLOSED;
    failure(texts::CLOSED_TITLE, &ApiError::new(ErrorCode::NotFound, message))
}

/// `POST /sign-up`
pub async fn sign_up(to: WithPasswords, headers: HeaderMap, form: FormInput) -> Response {
    if to.app.accounts.sign_up_mode() != SignUp::Open {
        return closed_page();
    }
    let path = || "/sign-up".to_owned();
    let form = match read(form) {
        Ok(form) => form,
        Err(error) => return new_account_form(&to, path(), EntryForm::default(), Some(error)),
    };
    let done = async {
        form.check_repeated_password()?;
        let from = ClientAddress(to.client.address);
        let user_id = to.app.accounts.sign_up(&form.name, &form.password, from).await?;
        start_session(&to, &headers, user_id, false, "/").await
    };
    match done.await {
        Ok(response) => response,
        Err(error) => new_account_form(&to, path(), form, Some(error)),
    }
}

fn new_account_form(to: &WithPasswords, path: String, form: EntryForm, error: Option<FormError>) -> Response {
    let content = view! {
        <p>{texts::NEW_ACCOUNT_HINT}</p>
        <form method="post" action=path>
            {name_field(form.name, true)}
            {password_field(texts::PASSWORD, "password", "new-password", false)}
            {password_field(texts::PASSWORD_AGAIN, "again", "new-password", false)}
            {password_rules(&to.app.accounts)}
            <button type="submit" class="button button-primary">{texts::MAKE_ACCOUNT}</button>
        </form>
    };
    page::form(texts::NEW_ACCOUNT_TITLE, error, content)
}

/// `GET /invitation/{secret}`
pub async fn invitation_page(to: WithPasswords, Path(secret): Path<String>) -> Response {
    match to.app.accounts.link_purpose(&secret).await {
        Ok(purpose @ LinkPurpose::Invitation(_)) if to.app.accounts.sign_up_mode() != SignUp::Closed => {
            new_account_form(&to, links::path(purpose, &secret), EntryForm::default(), None)
        }
        Ok(_) => failure(texts::LINK_NOT_VALID, &invalid_link()),
        Err(error) => failure(texts::LINK_NOT_VALID, &error),
    }
}

/// `POST /invitation/{secret}`
pub async fn accept_invitation(
    to: WithPasswords,
    Path(secret): Path<String>,
    headers: HeaderMap,
    form: FormInput,
) -> Response {
    let path = match to.app.accounts.link_purpose(&secret).await {
        Ok(purpose @ LinkPurpose::Invitation(_)) => links::path(purpose, &secret),
        Ok(_) => return failure(texts::LINK_NOT_VALID, &invalid_link()),
        Err(error) => return failure(texts::LINK_NOT_VALID, &error),
    };
    let form = match read(form) {
        Ok(form) => form,
        Err(error) => return new_account_form(&to, path, EntryForm::default(), Some(error)),
    };
    let done = async {
        form.check_repeated_password()?;
        let accounts = &to.app.accounts;
        let user_id = accounts
            .accept_invitation(&secret, &form.name, &form.password)
            .await?;
        start_session(&to, &headers, user_id, false, "/").await
    };
    match done.await {
        Ok(response) => response,
        Err(error) => new_account_form(&to, path, form, Some(error)),
    }
}

/// `GET /new-password/{secret}`
pub async fn new_password_page(to: WithPasswords, Path(secret): Path<String>) -> Response {
    match to.app.accounts.link_purpose(&secret).await {
        Ok(purpose @ LinkPurpose::NewPassword(_)) => {
            new_password_form(&to, links::path(purpose, &secret), None)
        }
        Ok(_) => failure(texts::LINK_NOT_VALID, &invalid_link()),
        Err(error) => failure(texts::LINK_NOT_VALID, &error),
    }
}

/// `POST /new-password/{secret}`
pub async fn set_new_password(
    to: WithPasswords,
    Path(secret): Path<String>,
    headers: HeaderMap,
    form: FormInput,
) -> Response {
    let path = match to.app.accounts.link_purpose(&secret).await {
        Ok(purpose @ LinkPurpose::NewPassword(_)) => links::path(purpose, &secret),
        Ok(_) => return failure(texts::LINK_NOT_VALID, &invalid_link()),
        Err(error) => return failure(texts::LINK_NOT_VALID, &error),
    };
    let done = async {
        let form = read(form)?;
        form.check_repeated_password()?;
        let user_id = to.app.accounts.reset_password(&secret, &form.password).await?;
        start_session(&to, &headers, user_id, false, "/").await
    };
    match done.await {
        Ok(response) => response,
        Err(error) => new_password_form(&to, path, Some(error)),
    }
}

fn new_password_form(to: &WithPasswords, path: String, error: Option<FormError>) -> Response {
    let content = view! {
        <p>{texts::NEW_PASSWORD_WARNING}</p>
        <form method="post" action=path>
            {password_field(texts::NEW_PASSWORD, "password", "new-password", true)}
            {password_field(texts::NEW_PASSWORD_AGAIN, "again", "new-password", false)}
            {password_rules(&to.app.accounts)}
            <button type="submit" class="button button-primary">{texts::SET_PASSWORD}</button>
        </form>
    };
    page::form(texts::NEW_PASSWORD_TITLE, error, content)
}
