//! The pages for people who are not signed in: sign-in and setup.

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
    SETUP_PATH, Visitor, WithPasswords, cookie,
    page::{
        self, FormError, failure, invalid_form, name_field, password_field, redirect, referring_page,
        safe_next,
    },
    provider, texts,
};
use crate::app::accounts::ClientAddress;
use crate::http::origin::needs_listing;
use parlor_base::settings::SignUp;
use parlor_protocol::{ApiError, ErrorCode, UserId};

/// The fields of all these forms. A form has some of them.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct EntryForm {
    pub name: String,
    pub password: String,
    /// The password again. Scripts could compare, but none run here.
    again: String,
    /// Not empty to stay signed in.
    remember: String,
    next: String,
    /// The setup token.
    token: String,
    /// Not empty to take over the local user's data.
    keep: String,
}

/// The query of these pages.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
pub struct EntryQuery {
    next: Option<String>,
    token: Option<String>,
}

pub type FormInput = Result<Form<EntryForm>, FormRejection>;

/// Reads a form.
pub fn read(form: FormInput) -> Result<EntryForm, FormError> {
    let form = form.map_err(|rejection| invalid_form(&rejection))?;
    Ok(form.0)
}

impl EntryForm {
    /// Checks that both passwords are the same.
    pub fn check_repeated_password(&self) -> Result<(), FormError> {
        if self.password == self.again {
            return Ok(());
        }
        let message = texts::PASSWORDS_DIFFER;
        Err(ApiError::new(ErrorCode::BadRequest, message).into())
    }
}

/// Signs a user in and leads to a page.
pub async fn start_session(
    to: &Visitor,
    headers: &HeaderMap,
    user_id: UserId,
    is_remembered: bool,
    next: &str,
) -> Result<Response, FormError> {
    let user_agent = headers
        .get(header::USER_AGENT)
        .and_then(|value| value.to_str().ok());
    let earlier = cookie::session_secret(headers, &to.client);
    let session = to
        .app
        .accounts
        .start_session(
            user_id,
            is_remembered,
            user_agent.unwrap_or_default(),
            to.client.address,
            earlier.as_deref(),
        )
        .await?;
    let mut response = redirect(&safe_next(next));
    for cookie in cookie::start(&session, &to.client) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

/// `GET /sign-in`
pub async fn sign_in_page(
    to: Visitor,
    query: Result<Query<EntryQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    let Query(query) = query.unwrap_or_default();
    match to.app.accounts.needs_setup().await {
        Ok(false) => {
            let next = query
                .next
                .or_else(|| referring_page(&headers))
                .unwrap_or_default();
            let form = EntryForm {
                next: safe_next(&next),
                ..EntryForm::default()
            };
            match to.app.accounts.provider() {
                Some(at) => provider::sign_in_page(at, &form.next, None),
                None => sign_in_form(&to, form, None),
            }
        }
        Ok(true) => redirect(SETUP_PATH),
        Err(error) => failure(texts::NOT_AVAILABLE, &error.into()),
    }
}

/// `POST /sign-in`
pub async fn sign_in(to: WithPasswords, headers: HeaderMap, form: FormInput) -> Response {
    let form = match read(form) {
        Ok(form) => form,
        Err(error) => return sign_in_form(&to, EntryForm::default(), Some(error)),
    };
    let signed_in = async {
        let from = ClientAddress(to.client.address);
        let account = to
            .app
            .accounts
            .check_password(&form.name, &form.password, from)
            .await?;
        start_session(
            &to,
            &headers,
            account.user_id,
            !form.remember.is_empty(),
            &form.next,
        )
        .await
    };
    match signed_in.await {
        Ok(response) => response,
        Err(error) => sign_in_form(&to, form, Some(error)),
    }
}

fn sign_in_form(to: &Visitor, form: EntryForm, error: Option<FormError>) -> Response {
    let is_open = to.app.accounts.sign_up_mode() == SignUp::Open;
    let sign_up =
        is_open.then(|| view! { <p>{texts::NO_ACCOUNT_YET} <a href="/sign-up">{texts::MAKE_ONE}</a></p> });
    let is_known = !form.name.is_empty();
    let content = view! {
        <form method="post" action="/sign-in">
            <input type="hidden" name="next" value=safe_next(&form.next)/>
            {name_field(form.name, !is_known)}
            {password_field(texts::PASSWORD, "password", "current-password", is_known)}
            <label class="account-choice">
                <input type="checkbox" name="remember" value="yes" checked=!form.remember.is_empty()/>
                {texts::STAY_SIGNED_IN}
            </label>
            <button type="submit" class="button button-primary">{texts::SIGN_IN}</button>
        </form>
        {sign_up}
        <p class="account-note">{texts::PASSWORD_FORGOTTEN}</p>
    };
    page::form(texts::SIGN_IN, error, content)
}

/// `GET /setup`
pub async fn setup_page(to: WithPasswords, query: Result<Query<EntryQuery>, QueryRejection>) -> Response {
    let Query(query) = query.unwrap_or_default();
    match to.app.accounts.needs_setup().await {
        Ok(true) => {
            let form = EntryForm {
                token: query.token.unwrap_or_default(),
                keep: "yes".into(),
                ..EntryForm::default()
            };
            setup_form(&to, form, None).await
        }
        Ok(false) => redirect(super::SIGN_IN_PATH),
        Err(error) => failure(texts::NOT_AVAILABLE, &error.into()),
    }
}

/// `POST /setup`
pub async fn set_up(to: WithPasswords, headers: HeaderMap, form: FormInput) -> Response {
    let form = match read(form) {
        Ok(form) => form,
        Err(error) => return setup_form(&to, EntryForm::default(), Some(error)).await,
    };
    let done = async {
        form.check_repeated_password()?;
        let login = (form.name.as_str(), form.password.as_str());
        let from = ClientAddress(to.client.address);
        let keeps = !form.keep.is_empty();
        let user_id = to.app.accounts.set_up(&form.token, login, keeps, from).await?;
        // The token was printed where Parlor runs: whoever has it says under which name Parlor is reached.
        if let Some(host) = to.host.as_ref().filter(|host| needs_listing(host))
            && let Err(error) = to.app.hosts.add_everywhere(host.as_str(), &*to.app.storage).await
        {
            tracing::error!(%error, %host, "the name could not be added to the accepted hosts");
        }
        start_session(&to, &headers, user_id, false, "/").await
    };
    match done.await {
        Ok(response) => response,
        Err(error) => setup_form(&to, form, Some(error)).await,
    }
}

async fn setup_form(to: &WithPasswords, form: EntryForm, error: Option<FormError>) -> Response {
    let has_local_data = to.app.accounts.has_local_data().await.unwrap_or_default();
    let keep = has_local_data.then(|| {
        view! {
            <label class="account-choice">
                <input type="checkbox" name="keep" value="yes" checked=!form.keep.is_empty()/>
                {texts::KEEP_CONVERSATIONS}
            </label>
        }
    });
    let has_token = !form.token.is_empty();
    let content = view! {
        <p>{texts::SETUP_HINT}</p>
        <form method="post" action="/setup">
            <label class="field">
                {texts::SETUP_TOKEN}
                <input name="token" value=form.token required autocomplete="off" spellcheck="false" autofocus=!has_token/>
            </label>
            {name_field(form.name, has_token)}
            {password_field(texts::PASSWORD, "password", "new-password", false)}
            {password_field(texts::PASSWORD_AGAIN, "again", "new-password", false)}
            {page::password_rules(&to.app.accounts)}
            {keep}
            <button type="submit" class="button button-primary">{texts::MAKE_ACCOUNT}</button>
        </form>
    };
    page::form(texts::SETUP_TITLE, error, content)
}
