//! The common parts of the account pages.

use std::time::Duration;

use axum::{
    extract::rejection::FormRejection,
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse, Redirect, Response},
};
use jiff::tz::TimeZone;
use leptos::prelude::*;

use super::{
    frame::{ContentKind, PageContent},
    texts,
};
use crate::{
    app::accounts::{Accounts, AttemptError},
    http::error_response::{add_retry_after, status},
};
use parlor_base::clock::format_minute;
use parlor_protocol::{ApiError, ErrorCode, Timestamp};

/// Rejects a request for a page that this server does not have.
pub struct NoAccounts;

impl IntoResponse for NoAccounts {
    fn into_response(self) -> Response {
        let error = ApiError::new(ErrorCode::NotFound, texts::NO_ACCOUNTS);
        failure(texts::NOT_FOUND, &error)
    }
}

/// Returns a page, which the layer of its routes frames.
pub fn respond(status: StatusCode, title: &'static str, content: impl IntoView) -> Response {
    let content = PageContent {
        title,
        html: content.into_view().to_html(),
        kind: ContentKind::Page,
    };
    content.respond(status)
}

/// Returns a page with an error only.
pub fn failure(title: &'static str, error: &ApiError) -> Response {
    let message = error.message.clone();
    let content = PageContent {
        title,
        html: view! { <p class="account-error" role="alert">{message}</p> }.to_html(),
        kind: ContentKind::Failure,
    };
    content.respond(status(error))
}

/// The error of a form, to be shown above it.
pub struct FormError {
    pub status: StatusCode,
    pub message: String,
    /// The value of `Retry-After`, in seconds.
    pub retry_after: Option<u64>,
}

impl From<ApiError> for FormError {
    fn from(error: ApiError) -> Self {
        Self {
            status: status(&error),
            retry_after: error.retry_after,
            message: error.message,
        }
    }
}

impl From<AttemptError> for FormError {
    fn from(error: AttemptError) -> Self {
        match error {
            AttemptError::Refused(error) => error.into(),
            AttemptError::Wait(wait) => Self {
                status: StatusCode::TOO_MANY_REQUESTS,
                message: texts::too_many_attempts(&in_words(wait)),
                retry_after: Some(whole_seconds(wait)),
            },
        }
    }
}

/// Returns the error for a form that is too large, or has other fields than the page's.
pub fn invalid_form(rejection: &FormRejection) -> ApiError {
    if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
        let message = texts::FORM_TOO_LARGE;
        return ApiError::new(ErrorCode::TooLarge, message);
    }
    let message = texts::FORM_INVALID;
    ApiError::new(ErrorCode::BadRequest, message)
}

/// Returns a page with a form, and the error of its last use.
pub fn form(title: &'static str, error: Option<FormError>, content: impl IntoView) -> Response {
    let status = error.as_ref().map_or(StatusCode::OK, |error| error.status);
    let retry_after = error.as_ref().and_then(|error| error.retry_after);
    let message = error.map(|error| view! { <p class="account-error" role="alert">{error.message}</p> });
    let mut response = respond(status, title, view! { {message} {content} });
    add_retry_after(response.headers_mut(), retry_after);
    response
}

/// Returns the message about what a form has done, above its page.
pub fn done_notice(done: Option<&'static str>) -> impl IntoView {
    done.map(|done| view! { <p class="account-done" role="status">{done}</p> })
}

/// Returns a time: in the server's format, and on pages with scripts then in the browser's.
pub fn time(at: Timestamp, zone: &TimeZone) -> AnyView {
    view! { <time datetime=at.to_rfc3339()>{format_minute(at, zone)}</time> }.into_any()
}

/// Returns a duration in whole seconds, at least one.
pub fn whole_seconds(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis().div_ceil(1000))
        .unwrap_or(u64::MAX)
        .max(1)
}

/// Formats a duration for people, rounded up: "a second", "5 seconds", "3 minutes", "36 hours", "90 days".
pub fn in_words(wait: Duration) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    // The largest unit of which there are two.
    let (unit, words): (u64, fn(u64) -> String) = match whole_seconds(wait) {
        1 => return texts::SECOND.into(),
        seconds if seconds >= 2 * DAY => (DAY, texts::days),
        seconds if seconds >= 2 * HOUR => (HOUR, texts::hours),
        seconds if seconds >= 2 * MINUTE => (MINUTE, texts::minutes),
        _ => (1, texts::seconds),
    };
    words(whole_seconds(wait).div_ceil(unit))
}

/// Returns a labelled field of a name.
pub fn name_field(value: String, has_focus: bool) -> impl IntoView {
    view! {
        <label class="field">
            {texts::NAME}
            <input
                name="name"
                value=value
                required
                maxlength="64"
                autocomplete="username"
                autocapitalize="none"
                spellcheck="false"
                autofocus=has_focus
            />
        </label>
    }
}

/// Returns a labelled field of a password. `autocomplete` tells password managers which one it is.
pub fn password_field(
    label: &'static str,
    name: &'static str,
    autocomplete: &'static str,
    has_focus: bool,
) -> impl IntoView {
    view! {
        <label class="field">
            {label}
            <input name=name type="password" required maxlength="1024" autocomplete=autocomplete autofocus=has_focus/>
        </label>
    }
}

/// Returns the rules of new passwords, as a note in their form.
pub fn password_rules(accounts: &Accounts) -> impl IntoView + use<> {
    let min_characters = accounts.min_password_characters();
    view! { <p class="account-note">{texts::password_rules(min_characters)}</p> }
}

/// Returns the URL that a sign-in leads to: only paths of this server.
pub fn safe_next(next: &str) -> String {
    let is_path = next.starts_with('/') && !next.starts_with("//") && !next.contains('\\');
    if is_path && !next.chars().any(char::is_control) && !next.starts_with(super::SIGN_IN_PATH) {
        next.to_owned()
    } else {
        "/".to_owned()
    }
}

/// Returns the URL of the page that led here, as path with query.
pub fn referring_page(headers: &HeaderMap) -> Option<String> {
    let referer: Uri = headers.get(header::REFERER)?.to_str().ok()?.parse().ok()?;
    let is_here = headers.get(header::HOST).is_some_and(|host| {
        referer
            .authority()
            .is_some_and(|authority| authority.as_str() == host)
    });
    let path = referer.path_and_query().filter(|_| is_here)?;
    Some(safe_next(path.as_str()))
}

/// Redirects with `GET` after a form.
pub fn redirect(path: &str) -> Response {
    Redirect::to(path).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sign_in_leads_to_own_pages_only() {
        for next in ["/", "/c/1?before=2", "/settings"] {
            assert_eq!(safe_next(next), next);
        }
        for next in [
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "",
            "c/1",
            "/\t/evil.example",
            "/sign-in",
        ] {
            assert_eq!(safe_next(next), "/", "{next:?}");
        }
    }

    #[test]
    fn waits_are_whole_seconds() {
        assert_eq!(whole_seconds(Duration::from_millis(1)), 1);
        assert_eq!(whole_seconds(Duration::from_millis(1001)), 2);
        for (seconds, words) in [
            (1, "a second"),
            (119, "119 seconds"),
            (300, "5 minutes"),
            (43_200, "12 hours"),
            (90 * 86_400, "90 days"),
        ] {
            assert_eq!(in_words(Duration::from_secs(seconds)), words);
        }
    }
}
