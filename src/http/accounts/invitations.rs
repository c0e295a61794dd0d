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
    users::{UsersFormInput, done, read},
};
use crate::app;
use parlor_base::settings::AuthMode;
use parlor_protocol::{ApiError, ErrorCode, LinkId, UserId};
use parlor_storage::accounts::{AccountLink, LinkPurpose, Role};

/// `GET /settings/invitations`
pub async fn show(admin: SignedIn, query: Result<Query<DoneQuery>, QueryRejection>) -> Response {
    let Query(query) = query.unwrap_or_default();
    let done = (query.done == "link").then_some("The link is not valid any more.");
    match invitations_page(&admin, done).await {
        Ok(response) => response,
        Err(error) => failure("Invitations", &error),
    }
}

async fn invitations_page(admin: &SignedIn, done: Option<&'static str>) -> Result<Response, ApiError> {
    admin.require_administrator()?;
    if admin.app.accounts.mode() != AuthMode::Password {
        let message = "Nobody needs an invitation here: people sign in to this Parlor in another way.";
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
                LinkPurpose::Invitation(Role::Administrator) => "Invitation of an administrator".to_owned(),
                LinkPurpose::Invitation(Role::Member) => "Invitation".to_owned(),
                LinkPurpose::NewPassword(user_id) => format!("New password for {}", name_of(user_id)),
            };
            link_row(link, what, time(link.expires_at, zone))
        })
        .collect();
    let is_empty = links.is_empty();
    let content = view! {
        {done_notice(done)}
        <p class="account-note">"A person with an invitation link makes an account of their own. Each link works once."</p>
        <form class="account-inline" method="post" action="/settings/invitations/invite">
            <label class="field">
                "Role"
                <select name="role">
                    <option value="member">"Member"</option>
                    <option value="administrator">"Administrator"</option>
                </select>
            </label>
            <button type="submit" class="button button-primary">"Make an invitation link"</button>
        </form>
        <section class="settings-section" aria-labelledby="invitations-links">
            <h3 id="invitations-links">"Links that are valid"</h3>
            {is_empty.then(|| view! { <p class="settings-empty">"There is no link that was not used yet."</p> })}
            <ul class="settings-list">{links}</ul>
        </section>
    };
    Ok(page::respond(StatusCode::OK, "Invitations", content))
}

pub(super) fn link_row(link: &AccountLink, what: String, until: AnyView) -> impl IntoView + use<> {
    view! {
        <li class="account-row">
            <div>
                <strong>{what}</strong>
                <p class="settings-facts">"Valid until " {until}</p>
            </div>
            <form method="post" action="/settings/invitations/withdraw">
                <input type="hidden" name="link" value=link.id.to_string()/>
                <button type="submit" class="button button-quiet">"Withdraw"</button>
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
        "Send this link to the person. It works once, for a new account.",
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
        Err(error) => return failure("No link was made", &error),
    };
    let url = [site, &path].concat();
    let content = view! {
        <p>{about} " It is shown only now: copy it."</p>
        <div class="account-link">
            <input class="settings-input" aria-label="Link" value=url.clone() readonly/>
            <button type="button" class="button button-primary needs-script" data-copy=url>"Copy the link"</button>
        </div>
        <div class="account-actions">
            <a class="button" href=tab>"Done"</a>
        </div>
    };
    page::respond(StatusCode::OK, "A new link", content)
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
