//! The devices on which the user is signed in.

use axum::{
    extract::{
        Form, Query,
        rejection::{FormRejection, QueryRejection},
    },
    http::HeaderMap,
    response::Response,
};
use jiff::tz::TimeZone;
use leptos::prelude::*;
use serde::Deserialize;

use super::{
    SignedIn,
    own::{DoneQuery, signed_out},
    page::{self, FormError, done_notice, failure, invalid_form, redirect, time},
    texts,
};
use crate::app;
use parlor_protocol::SessionId;
use parlor_storage::accounts::Session;

/// `GET /settings/devices`
pub async fn show(user: SignedIn, query: Result<Query<DoneQuery>, QueryRejection>) -> Response {
    let Query(query) = query.unwrap_or_default();
    let done = (query.done == "session").then_some(texts::DEVICE_SIGNED_OUT);
    devices_page(&user, done, None).await
}

async fn devices_page(user: &SignedIn, done: Option<&'static str>, error: Option<FormError>) -> Response {
    let sessions = match user.app.accounts.sessions(user.account.user_id).await {
        Ok(sessions) => sessions,
        Err(error) => return failure(texts::DEVICES_TITLE, &error.into()),
    };
    let zone = &user.app.settings.history.time_zone();
    let rows: Vec<_> = sessions
        .into_iter()
        .map(|session| session_row(session, user.session, zone))
        .collect();
    let is_empty = rows.is_empty();
    let content = view! {
        {done_notice(done)}
        <p class="account-note">{texts::DEVICES_HINT}</p>
        {is_empty.then(|| view! { <p class="settings-empty">{texts::NO_DEVICES}</p> })}
        <ul class="settings-list">{rows}</ul>
        {(!is_empty).then(|| view! {
            <form method="post" action="/settings/devices/end-all">
                <button type="submit" class="button">{texts::SIGN_OUT_EVERYWHERE}</button>
            </form>
        })}
    };
    page::form(texts::DEVICES_TITLE, error, content)
}

pub(super) fn session_row(
    session: Session,
    current: Option<SessionId>,
    zone: &TimeZone,
) -> impl IntoView + use<> {
    let state = match current == Some(session.id) {
        true => view! { <span>{texts::THIS_DEVICE}</span> }.into_any(),
        false => view! { <span>{texts::LAST_USED} {time(session.last_used_at, zone)}</span> }.into_any(),
    };
    let since = time(session.created_at, zone);
    view! {
        <li class="account-row">
            <div>
                <strong>{session.device}</strong>
                <p class="settings-facts">{state} <span>{session.address}</span> <span>{texts::SIGNED_IN} {since}</span></p>
            </div>
            <form method="post" action="/settings/devices/end">
                <input type="hidden" name="session" value=session.id.to_string()/>
                <button type="submit" class="button button-quiet">{texts::SIGN_OUT}</button>
            </form>
        </li>
    }
}

/// The field of the button at a session.
#[derive(Deserialize)]
pub struct SessionForm {
    session: String,
}

/// `POST /settings/devices/end`
pub async fn end_session(
    user: SignedIn,
    headers: HeaderMap,
    form: Result<Form<SessionForm>, FormRejection>,
) -> Response {
    let form = match form {
        Ok(Form(form)) => form,
        Err(rejection) => return devices_page(&user, None, Some(invalid_form(&rejection).into())).await,
    };
    let Ok(id) = form.session.parse::<SessionId>() else {
        return devices_page(&user, None, Some(app::not_found().into())).await;
    };
    match user.app.accounts.end_session(user.account.user_id, id).await {
        Ok(()) if user.session == Some(id) => signed_out(&user, &headers).await,
        Ok(()) => redirect("/settings/devices?done=session"),
        Err(error) => devices_page(&user, None, Some(error.into())).await,
    }
}

/// `POST /settings/devices/end-all`
pub async fn end_all_sessions(user: SignedIn, headers: HeaderMap) -> Response {
    match user.app.accounts.end_all_sessions(user.account.user_id).await {
        Ok(()) => signed_out(&user, &headers).await,
        Err(error) => devices_page(&user, None, Some(error.into())).await,
    }
}
