//! Signing in at an OpenID provider. A link leads there, not a form: the pages' policy lets forms lead to Parlor only.

use axum::{
    extract::{Query, rejection::QueryRejection},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use leptos::prelude::*;
use serde::Deserialize;

use super::{
    SIGN_IN_PATH, Visitor, cookie,
    entry::start_session,
    frame::{ContentKind, PageContent},
    page::{self, FormError, failure, redirect, safe_next},
    texts,
};
use crate::{
    app::{
        self,
        accounts::{
            ClientAddress,
            oidc::{Attempt, Callback, Provider},
        },
    },
    http::client::Client,
};
use parlor_protocol::{ApiError, ErrorCode};

/// The path to which the provider redirects.
const CALLBACK_PATH: &str = "/sign-in/callback";

/// The maximum length of the page's URL that a sign-in leads to, which a cookie keeps.
const MAX_NEXT_BYTES: usize = 1000;

/// The query of the URL at which a sign-in begins.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct StartQuery {
    next: String,
    /// Not empty to stay signed in.
    remember: String,
}

/// Returns the page for signing in.
pub fn sign_in_page(at: &Provider, next: &str, error: Option<FormError>) -> Response {
    let next = percent_encoding::utf8_percent_encode(next, percent_encoding::NON_ALPHANUMERIC).to_string();
    let name = at.name().to_owned();
    let [before, after] = texts::SIGN_IN_AT_PROVIDER;
    let content = view! {
        <p>{before} <strong>{name.clone()}</strong> {after}</p>
        <div class="account-actions">
            <a class="button button-primary" href=format!("/sign-in/start?next={next}")>{texts::sign_in_at(&name)}</a>
        </div>
        <p class="account-note">
            {texts::ON_OWN_DEVICE}
            <a href=format!("/sign-in/start?remember=yes&next={next}")>{texts::ON_OWN_DEVICE_LINK}</a>
        </p>
    };
    page::form(texts::SIGN_IN, error, content)
}

/// `GET /sign-in/start`
pub async fn start(
    to: Visitor,
    headers: HeaderMap,
    query: Result<Query<StartQuery>, QueryRejection>,
) -> Response {
    let Some(at) = to.app.accounts.provider() else {
        return failure(texts::NOT_FOUND, &app::not_found());
    };
    let Query(query) = query.unwrap_or_default();
    let next = safe_next(&query.next);
    let next = if next.len() > MAX_NEXT_BYTES {
        "/".to_owned()
    } else {
        next
    };
    let begun = async {
        let attempt = Attempt::begin(!query.remember.is_empty(), next.clone())?;
        let back = at.own_url(&site(&headers, &to.client), CALLBACK_PATH);
        Ok::<_, ApiError>((at.sign_in_url(&attempt, &back).await?, attempt))
    };
    match begun.await {
        Ok((url, attempt)) => {
            let mut response = redirect(url.as_str());
            let cookie = cookie::begin_attempt(&attempt.to_cookie(), at.sign_in_time(), &to.client);
            response.headers_mut().append(header::SET_COOKIE, cookie);
            response
        }
        Err(error) => sign_in_page(at, &next, Some(error.into())),
    }
}

/// `GET /sign-in/callback`
pub async fn finish(
    to: Visitor,
    headers: HeaderMap,
    callback: Result<Query<Callback>, QueryRejection>,
) -> Response {
    let Some(at) = to.app.accounts.provider() else {
        return failure(texts::NOT_FOUND, &app::not_found());
    };
    let attempt = cookie::attempt(&headers, &to.client).and_then(|value| Attempt::from_cookie(&value));
    let callback = callback.map(|Query(callback)| callback).unwrap_or_default();
    let next = attempt
        .as_ref()
        .map_or_else(String::new, |attempt| attempt.next.clone());
    let finished = async {
        let attempt = attempt
            .filter(|attempt| callback.state.as_deref() == Some(&*attempt.state()))
            .ok_or_else(not_begun_here)?;
        let back = at.own_url(&site(&headers, &to.client), CALLBACK_PATH);
        let from = ClientAddress(to.client.address);
        let accounts = &to.app.accounts;
        let account = accounts.finish_provided(&attempt, callback, &back, from).await?;
        let (remember, next) = (attempt.is_remembered, &attempt.next);
        start_session(&to, &headers, account.user_id, remember, next).await
    };
    let mut response = match finished.await {
        Ok(response) => response,
        Err(error) => sign_in_page(at, &safe_next(&next), Some(error)),
    };
    // It works once.
    let ended = cookie::end_attempt(&to.client);
    response.headers_mut().append(header::SET_COOKIE, ended);
    response
}

/// Returns the error for a callback that does not belong to a sign-in of this browser.
fn not_begun_here() -> ApiError {
    ApiError::new(ErrorCode::BadRequest, texts::SIGN_IN_NOT_BEGUN)
}

/// Returns the page that ends the provider's own session, if the provider can.
pub async fn sign_out_page(at: &Provider, headers: &HeaderMap, client: &Client) -> Option<Response> {
    let back = at.own_url(&site(headers, client), SIGN_IN_PATH);
    let url = at.sign_out_url(&back).await?;
    let label = texts::sign_out_at(at.name());
    let content = view! {
        <p>{texts::SIGNED_OUT}</p>
        <div class="account-actions">
            <a class="button button-primary" href=url.as_str().to_owned()>{label}</a>
        </div>
    };
    let content = PageContent {
        title: texts::SIGNED_OUT_TITLE,
        html: content.to_html(),
        kind: ContentKind::SignedOut,
    };
    let mut response = content.respond(StatusCode::OK);
    // Not a redirect: the policy of the page with the form would not let it lead to another host.
    let refresh = HeaderValue::from_str(&format!("0; url={url}")).ok()?;
    response.headers_mut().insert("refresh", refresh);
    Some(response)
}

/// Returns the scheme and the host of Parlor as the browser has them. The host was checked before.
fn site(headers: &HeaderMap, client: &Client) -> String {
    let scheme = if client.is_tls { "https" } else { "http" };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    format!("{scheme}://{}", host.unwrap_or_default())
}
