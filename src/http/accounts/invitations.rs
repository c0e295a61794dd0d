//! The administrators' page of invitations, and the page with a new link.

use axum::{
    extract::{Query, rejection::QueryRejection},
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use leptos::prelude::*;

use super::{
    SignedIn,
    own::DoneQuery,
    page::{self, done_notice, failure, time},
    texts,
    users::{UsersFormInput, done, read},
};
use crate::app;
use parlor_base::settings::AuthMode;
use parlor_protocol::{ApiError, ErrorCode, LinkId, UserId};
use parlor_storage::accounts::{AccountLink, LinkPurpose, Role};

/// `GET /settings/invitations`
pub async fn show(admin: SignedIn, query: Result<Query<DoneQuery>, QueryRejection>) -> Response {
    let Query(query) = query.unwrap_or_default();
    let done = (query.done == "link").then_some(texts::LINK_WITHDRAWN);
    match invitations_page(&admin, done).await {
        Ok(response) => response,
        Err(error) => failure(texts::INVITATIONS_TITLE, &error),
    }
}

async fn invitations_page(admin: &SignedIn, done: Option<&'static str>) -> Result<Response, ApiError> {
    admin.require_administrator()?;
    if admin.app.accounts.mode() != AuthMode::Password {
        let message = texts::NO_INVITATIONS;
        return Err(ApiError::new(ErrorCode::NotFound, message));
    }
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
                LinkPurpose::Invitation(Role::Administrator) => texts::ADMINISTRATORS_INVITATION.to_owned(),
                LinkPurpose::Invitation(Role::Member) => texts::INVITATION.to_owned(),
                LinkPurpose::NewPassword(user_id) => texts::password_link_for(&name_of(user_id)),
            };
            link_row(link, what, time(link.expires_at, zone))
        })
        .collect();
    let is_empty = links.is_empty();
    let content = view! {
        {done_notice(done)}
        <p class="account-note">{texts::INVITATIONS_HINT}</p>
        <form class="account-inline" method="post" action="/settings/invitations/invite">
            <label class="field">
                {texts::ROLE}
                <select name="role">
                    <option value="member">{texts::MEMBER}</option>
                    <option value="administrator">{texts::ADMINISTRATOR}</option>
                </select>
            </label>
            <button type="submit" class="button button-primary">{texts::MAKE_INVITATION}</button>
        </form>
        <section class="settings-section" aria-labelledby="invitations-links">
            <h3 id="invitations-links">{texts::LINKS}</h3>
            {is_empty.then(|| view! { <p class="settings-empty">{texts::NO_LINKS}</p> })}
            <ul class="settings-list">{links}</ul>
        </section>
    };
    Ok(page::respond(StatusCode::OK, texts::INVITATIONS_TITLE, content))
}

pub(super) fn link_row(link: &AccountLink, what: String, until: AnyView) -> impl IntoView + use<> {
    view! {
        <li class="account-row">
            <div>
                <strong>{what}</strong>
                <p class="settings-facts"><span>{texts::VALID_UNTIL} {until}</span></p>
            </div>
            <form method="post" action="/settings/invitations/withdraw">
                <input type="hidden" name="link" value=link.id.to_string()/>
                <button type="submit" class="button button-quiet">{texts::WITHDRAW}</button>
            </form>
        </li>
    }
}

/// `POST /settings/invitations/invite`
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
        "/settings/invitations",
        made.await,
        browser_origin(&headers),
        texts::INVITATION_HINT,
    )
}

/// Returns the scheme and the host of this site as the administrator's browser has them; empty if it does not say. A proxy
/// may send a `Host` of its own, and the `Origin` of a form is checked before.
pub(super) fn browser_origin(headers: &HeaderMap) -> &str {
    let origin = headers.get(header::ORIGIN);
    origin.and_then(|origin| origin.to_str().ok()).unwrap_or_default()
}

/// Returns the page with a new link, which then leads back to a tab.
pub(super) fn new_link_page(
    tab: &'static str,
    made: Result<String, ApiError>,
    site: &str,
    about: &'static str,
) -> Response {
    let path = match made {
        Ok(path) => path,
        Err(error) => return failure(texts::NO_LINK_MADE, &error),
    };
    let url = [site, &path].concat();
    let content = view! {
        <p>{about} {texts::LINK_SHOWN_ONCE}</p>
        <div class="account-link">
            <input class="settings-input" aria-label=texts::LINK value=url.clone() readonly/>
            <button type="button" class="button button-primary needs-script" data-copy=url>{texts::COPY_LINK}</button>
        </div>
        <div class="account-actions">
            <a class="button" href=tab>{texts::DONE}</a>
        </div>
    };
    page::respond(StatusCode::OK, texts::NEW_LINK_TITLE, content)
}

/// `POST /settings/invitations/withdraw`
pub async fn delete_link(admin: SignedIn, form: UsersFormInput) -> Response {
    let deleted = async {
        let form = read(&admin, form)?;
        let link: LinkId = form.link.parse().map_err(|_| app::not_found())?;
        admin.app.accounts.delete_link(&admin.actor(), link).await?;
        Ok("/settings/invitations?done=link")
    };
    done(deleted.await)
}
