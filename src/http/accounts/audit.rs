//! The administrator's page with the audit log.

use axum::{
    extract::{Query, rejection::QueryRejection},
    http::StatusCode,
    response::Response,
};
use jiff::tz::TimeZone;
use leptos::prelude::*;
use serde::Deserialize;

use super::{
    SignedIn,
    page::{self, failure, in_words, time},
    texts,
};
use parlor_protocol::ApiError;
use parlor_storage::audit::{AuditAction, AuditEntry};

/// The number of entries on a page.
const PAGE_ENTRIES: usize = 100;

/// The page's query.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct AuditQuery {
    /// The id of the last entry of the page before.
    before: Option<i64>,
}

/// `GET /settings/audit`
pub async fn show(admin: SignedIn, query: Result<Query<AuditQuery>, QueryRejection>) -> Response {
    let Query(query) = query.unwrap_or_default();
    match audit_page(&admin, query.before).await {
        Ok(response) => response,
        Err(error) => failure(texts::AUDIT_TITLE, &error),
    }
}

async fn audit_page(admin: &SignedIn, before: Option<i64>) -> Result<Response, ApiError> {
    admin.require_administrator()?;
    let mut entries = admin.app.accounts.audit_log(before, PAGE_ENTRIES + 1).await?;
    let has_more = entries.len() > PAGE_ENTRIES;
    entries.truncate(PAGE_ENTRIES);
    let zone = admin.app.settings.history.time_zone();
    let last = entries.last().map(|entry| entry.id);
    let rows: Vec<_> = entries
        .into_iter()
        .map(|entry| entry_row(&entry, &zone))
        .collect();
    let is_empty = rows.is_empty();
    let older = last.filter(|_| has_more).map(|last| {
        view! { <a class="button" rel="next" href=format!("/settings/audit?before={last}")>{texts::OLDER_ENTRIES}</a> }
    });
    let newest =
        before.map(|_| view! { <a class="button" href="/settings/audit">{texts::NEWEST_ENTRIES}</a> });
    let settings = &admin.app.settings.accounts;
    let (keep, most) = (in_words(settings.audit_keep), settings.audit_entries);
    let content = view! {
        <p class="account-note">{texts::about_audit(&keep, most)}</p>
        {is_empty.then(|| view! { <p class="settings-empty">{texts::NO_ENTRIES}</p> })}
        <ul class="settings-list">{rows}</ul>
        <div class="account-actions">{newest} {older}</div>
    };
    Ok(page::respond(StatusCode::OK, texts::AUDIT_TITLE, content))
}

pub(super) fn entry_row(entry: &AuditEntry, zone: &TimeZone) -> impl IntoView + use<> {
    let (who, what) = sentence(entry);
    let address = (!entry.address.is_empty()).then(|| view! { <span>{entry.address.clone()}</span> });
    view! {
        <li class="account-row">
            <div>
                <strong>{who}</strong> " " {what}
                <p class="settings-facts">{time(entry.at, zone)} {address}</p>
            </div>
        </li>
    }
}

/// Returns the actor's name and the action of an entry.
fn sentence(entry: &AuditEntry) -> (String, String) {
    let who = match entry.name.as_str() {
        "" if entry.action == AuditAction::PasswordLinkMade => texts::OPERATOR.to_owned(),
        "" => texts::SOMEBODY.to_owned(),
        name => name.to_owned(),
    };
    let about = entry.about.as_str();
    let account = match about {
        "" => texts::OWN_ACCOUNT.to_owned(),
        name => texts::account(name),
    };
    let what = texts::action(entry.action, !entry.name.is_empty(), &account, about);
    (who, what)
}
