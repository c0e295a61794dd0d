//! The one address of frames: shows a page that a model has written, without access to anything.
//!
//! Parlor's page sends the text by a form and shows the response in a sandboxed frame. The response sets the policy,
//! since other ways to fill a frame inherit that of Parlor's page. It is sandboxed by itself too: opened in a tab, it has no origin either.
//! A frame cannot leave this address, because the page's own policy names no other for frames.

use std::borrow::Cow;

use axum::{
    extract::{Form, rejection::FormRejection},
    http::{HeaderName, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use serde::Deserialize;

/// The path of this address.
pub const PATH: &str = "/frame";

/// A page to show.
#[derive(Deserialize)]
pub struct FramedPage {
    page: String,
}

/// `POST /frame`: returns the page of the form, with the policy of frames.
pub async fn show(framed: Result<Form<FramedPage>, FormRejection>) -> Response {
    let content = match framed {
        Ok(Form(FramedPage { page })) => Html(without_connections(&page).into_owned()).into_response(),
        Err(rejection) => {
            let text =
                "This page cannot be shown: it is too long, or the form is damaged. Its source is kept.";
            let status = match rejection {
                FormRejection::BytesRejection(_) => StatusCode::PAYLOAD_TOO_LARGE,
                _ => StatusCode::BAD_REQUEST,
            };
            (status, text).into_response()
        }
    };
    let headers = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-dns-prefetch-control"), "off"),
    ];
    (headers, content).into_response()
}

/// The policy of a frame: no script runs, nothing is loaded or sent; styles and images are those within the page.
const POLICY: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:; \
     form-action 'none'; base-uri 'none'; frame-ancestors 'self'";

/// The elements for which browsers open connections ahead of time, although the policy forbids what they load:
/// `preconnect`, `dns-prefetch`, and refused frames.
const CONNECTING_ELEMENTS: [&str; 4] = ["link", "iframe", "frame", "fencedframe"];

/// Renames [`CONNECTING_ELEMENTS`]. They could show nothing.
fn without_connections(page: &str) -> Cow<'_, str> {
    let is_connecting = |rest: &str| {
        CONNECTING_ELEMENTS.iter().any(|name| {
            rest.get(..name.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(name))
        })
    };
    let mut renamed = String::new();
    let mut copied = 0;
    for (at, _) in page.match_indices('<') {
        if is_connecting(&page[at + 1..]) {
            renamed.push_str(&page[copied..=at]);
            renamed.push_str("x-");
            copied = at + 1;
        }
    }
    if copied == 0 {
        return page.into();
    }
    renamed.push_str(&page[copied..]);
    renamed.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connecting_elements_are_renamed_in_every_case() {
        for (page, renamed) in [
            ("<p>a</p>", "<p>a</p>"),
            (
                "<link rel=preconnect href=//a>b<LINK>",
                "<x-link rel=preconnect href=//a>b<x-LINK>",
            ),
            ("é<lInk/>é<é", "é<x-lInk/>é<é"),
            ("<iframe src=//a></iframe>", "<x-iframe src=//a></iframe>"),
        ] {
            assert_eq!(without_connections(page), renamed);
        }
    }
}
