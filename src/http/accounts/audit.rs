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
        Err(error) => failure("Audit log", &error),
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
        view! { <a class="button" rel="next" href=format!("/settings/audit?before={last}")>"Older entries"</a> }
    });
    let newest = before.map(|_| view! { <a class="button" href="/settings/audit">"Newest entries"</a> });
    let settings = &admin.app.settings.accounts;
    let (keep, most) = (in_words(settings.audit_keep), settings.audit_entries);
    let content = view! {
        <p class="account-note">{format!(
            "Who did what, without contents. Entries are kept for {keep}, and at most {most} of them."
        )}</p>
        {is_empty.then(|| view! { <p class="settings-empty">"There are no entries."</p> })}
        <ul class="settings-list">{rows}</ul>
        <div class="account-actions">{newest} {older}</div>
    };
    Ok(page::respond(StatusCode::OK, "Audit log", content))
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
        "" if entry.action == AuditAction::PasswordLinkMade => "The operator".to_owned(),
        "" => "Somebody".to_owned(),
        name => name.to_owned(),
    };
    let about = match entry.about.as_str() {
        "" => "their own account".to_owned(),
        name => format!("the account {name}"),
    };
    let what = match entry.action {
        AuditAction::SignedIn => "signed in".to_owned(),
        AuditAction::SignInFailed if entry.name.is_empty() => {
            "failed to sign in, without an account here".to_owned()
        }
        AuditAction::SignInFailed => "could not sign in".to_owned(),
        AuditAction::PasswordChangeFailed => "wrote a wrong old password when changing it".to_owned(),
        AuditAction::SignedOut => "signed a device out".to_owned(),
        AuditAction::SignedOutEverywhere => "signed all devices out".to_owned(),
        AuditAction::AccountMade => "got an account".to_owned(),
        AuditAction::Renamed => format!("is called {} since", entry.about),
        AuditAction::MadeAdministrator if entry.about.is_empty() => {
            "is an administrator since, by the provider's groups".to_owned()
        }
        AuditAction::MadeAdministrator => format!("made {about} an administrator"),
        AuditAction::MadeMember if entry.about.is_empty() => {
            "is a member since, by the provider's groups".to_owned()
        }
        AuditAction::MadeMember => format!("made {about} a member"),
        AuditAction::Disabled => format!("disabled {about}"),
        AuditAction::Enabled => format!("enabled {about}"),
        AuditAction::Deleted => format!("deleted {about} with everything in it"),
        AuditAction::HandedOver => format!("handed over what was in {about}, and deleted the account"),
        AuditAction::Invited => "made an invitation".to_owned(),
        AuditAction::InvitedAdministrator => "made an invitation for an administrator".to_owned(),
        AuditAction::PasswordLinkMade => format!("made a link for a new password of {about}"),
        AuditAction::LinkWithdrawn => "withdrew a link".to_owned(),
        AuditAction::PasswordChanged => "has a new password".to_owned(),
        AuditAction::TokenMade => "made an API token".to_owned(),
        AuditAction::TokenRevoked => "revoked an API token".to_owned(),
        AuditAction::Shared => "shared a conversation".to_owned(),
        AuditAction::ShareEnded => "ended a share".to_owned(),
        AuditAction::EndpointAdded => format!("added the model server {}", entry.about),
        AuditAction::EndpointChanged => format!("changed the model server {}", entry.about),
        AuditAction::EndpointKeyChanged => format!("changed the key of the model server {}", entry.about),
        AuditAction::EndpointRemoved => format!("removed the model server {}", entry.about),
    };
    (who, what)
}
