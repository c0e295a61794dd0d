//! The account pages with cross-site scripting strings in all their texts.

use axum::{http::StatusCode, response::Response};
use jiff::tz::TimeZone;
use leptos::prelude::*;

use super::{
    audit, deletion, devices,
    frame::PageContent,
    invitations,
    page::{self, FormError},
    usage, users,
};
use parlor_protocol::{ApiError, ErrorCode, LinkId, Role, SessionId, Timestamp, UserId};
use parlor_storage::{
    accounts::{Account, AccountLink, LinkPurpose, Session, SignInMethod},
    audit::{AuditAction, AuditEntry},
    usage::UsageSum,
};
use xss::assert_harmless_in;

/// Returns the HTML of a page's content, before it is framed.
fn html(mut response: Response) -> String {
    let content = response.extensions_mut().remove::<PageContent>();
    content.expect("a content").html
}

fn account(name: &str, role: Role) -> Account {
    Account {
        user_id: UserId::new(),
        name: name.into(),
        role,
        created_at: Timestamp(0),
        is_disabled: role == Role::Member,
    }
}

fn link() -> AccountLink {
    AccountLink {
        id: LinkId::new(),
        purpose: LinkPurpose::Invitation(Role::Member),
        created_at: Timestamp(0),
        expires_at: Timestamp(0),
    }
}

fn session(text: &str) -> Session {
    Session {
        id: SessionId::new(),
        device: text.into(),
        address: text.into(),
        created_at: Timestamp(0),
        last_used_at: Timestamp(0),
        idle_ms: 1,
        expires_at: Timestamp(0),
        method: SignInMethod::Password,
    }
}

fn entry(text: &str, action: AuditAction) -> AuditEntry {
    AuditEntry {
        id: 1,
        at: Timestamp(0),
        name: text.into(),
        action,
        about: text.into(),
        address: text.into(),
    }
}

#[test]
fn no_text_of_an_error_becomes_markup() {
    assert_harmless_in("an error", |text| {
        // Not shortened, as a new one is.
        let mut error = ApiError::new(ErrorCode::NotFound, "");
        error.message = text.into();
        html(page::failure("Not found", &error))
    });
    assert_harmless_in("a form", |text| {
        let error = FormError {
            status: StatusCode::BAD_REQUEST,
            message: text.into(),
            retry_after: None,
        };
        html(page::form(
            "Sign in",
            Some(error),
            page::name_field(text.into(), true),
        ))
    });
}

#[test]
fn no_name_becomes_markup() {
    assert_harmless_in("the users", |text| {
        let rows = [Role::Administrator, Role::Member].map(|role| {
            let account = account(text, role);
            users::user_row(&account, false, ("", text.to_owned().into_any()), true, true).into_any()
        });
        let link = invitations::link_row(&link(), text.into(), text.to_owned().into_any());
        html(page::respond(
            StatusCode::OK,
            "Users",
            view! { {Vec::from(rows)} {link} },
        ))
    });
    assert_harmless_in("a new link", |text| {
        let page = html(invitations::new_link_page(
            "/settings/users",
            Ok("/invitation/key".into()),
            text,
            "About",
        ));
        // It is the value of a field, which is no text.
        [page, view! { <p>{text.to_owned()}</p> }.to_html()].concat()
    });
    assert_harmless_in("a deletion", |text| {
        let account = || account(text, Role::Member);
        html(deletion::confirm(&account(), &[account()]))
    });
    assert_harmless_in("the usage", |text| {
        let sums = vec![(UserId::new(), text.to_owned(), UsageSum::default())];
        let content = view! { {usage::heading(text.into())} {usage::table_by_user(sums)} };
        html(page::respond(StatusCode::OK, "Usage", content))
    });
}

#[test]
fn no_device_or_entry_becomes_markup() {
    assert_harmless_in("the devices", |text| {
        let row = devices::session_row(session(text), None, &TimeZone::UTC);
        html(page::respond(StatusCode::OK, "Your account", row))
    });
    assert_harmless_in("the audit log", |text| {
        let row = |action| audit::entry_row(&entry(text, action), &TimeZone::UTC).into_any();
        let rows = Vec::from(AuditAction::ALL.map(row));
        html(page::respond(StatusCode::OK, "Audit log", rows))
    });
}
