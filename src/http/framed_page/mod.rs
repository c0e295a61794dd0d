//! The one URL of frames: shows a page that a model has written, and the pages that draw diagrams and charts,
//! without access to anything.
//!
//! Parlor's page sends the text by a form and shows the response in a sandboxed frame. The response sets the policy,
//! since other ways to fill a frame inherit that of Parlor's page. It is sandboxed by itself too: opened in a tab, it has no origin either.
//! A frame cannot leave this URL, because the page's own policy names no other for frames. Chromium runs the scripts
//! of frames without an origin in a process of their own, so an endless loop stops only the frame.

mod markup;

use axum::{
    extract::{Form, rejection::FormRejection},
    http::{HeaderName, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use leptos::nonce::Nonce;
use serde::Deserialize;

use self::markup::{guarded, without_connections};
use super::texts;
use crate::assets::Manifest;

/// The path of this URL.
pub const PATH: &str = "/frame";

/// The form that requests a frame.
#[derive(Deserialize)]
pub struct FrameForm {
    #[serde(default)]
    kind: FrameKind,
    /// The page to show.
    page: String,
}

/// The kind of a frame.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FrameKind {
    /// The page of the form. No script runs.
    #[default]
    Static,
    /// The page of the form, with the scripts that are written in it.
    Scripts,
    /// The page that draws diagrams, with Mermaid's script. The page of the form is not used.
    Diagrams,
    /// The page that draws a chart, with the script that Parlor's page sends. The page of the form is not used.
    Charts,
}

/// `POST /frame`: returns the page of the form, with the policy of its kind.
pub async fn show(form: Result<Form<FrameForm>, FormRejection>) -> Response {
    let (policy, content) = match form {
        Ok(Form(FrameForm { kind, page })) => {
            let (policy, page) = match kind {
                FrameKind::Static => (static_policy(), without_connections(&page).into_owned()),
                FrameKind::Scripts => (scripts_policy(), guarded(&page)),
                FrameKind::Diagrams => {
                    let nonce = Nonce::new();
                    (diagrams_policy(&nonce), diagrams_page(&nonce))
                }
                FrameKind::Charts => {
                    let nonce = Nonce::new();
                    (charts_policy(&nonce), charts_page(&nonce))
                }
            };
            (policy, Html(page).into_response())
        }
        Err(rejection) => {
            let text = texts::FRAME_INVALID;
            let status = match rejection {
                FormRejection::BytesRejection(_) => StatusCode::PAYLOAD_TOO_LARGE,
                _ => StatusCode::BAD_REQUEST,
            };
            (static_policy(), (status, text).into_response())
        }
    };
    let headers = [
        (header::CONTENT_SECURITY_POLICY, &*policy),
        // Covers WebRTC and connections ahead of time, which no policy does. Chromium knows it.
        (HeaderName::from_static("connection-allowlist"), "();webrtc=block"),
        (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-dns-prefetch-control"), "off"),
    ];
    (headers, content).into_response()
}

/// The part of every policy: nothing is loaded or sent; styles are those within the page.
const NO_CONNECTIONS: &str = "default-src 'none'; style-src 'unsafe-inline'; font-src data:; media-src data:; form-action 'none'; \
     base-uri 'none'; frame-ancestors 'self'";

/// The part of most policies: images are those within the page, too.
const OWN_IMAGES: &str = "img-src data:";

/// The part of policies with scripts: all markup and code that a script makes passes [the guard](markup::GUARD), and no
/// script is loaded.
const GUARDED: &str = "worker-src 'none'; require-trusted-types-for 'script'; trusted-types default";

/// No script runs.
fn static_policy() -> String {
    format!("sandbox; {NO_CONNECTIONS}; {OWN_IMAGES}")
}

fn scripts_policy() -> String {
    format!("sandbox allow-scripts; {NO_CONNECTIONS}; {OWN_IMAGES}; script-src 'unsafe-inline'; {GUARDED}")
}

/// Returns the policy under which only our own scripts run, and Mermaid's, which gets the nonce from them. It names its own
/// policy for trusted types.
fn diagrams_policy(nonce: &Nonce) -> String {
    format!(
        "sandbox allow-scripts; {NO_CONNECTIONS}; {OWN_IMAGES}; script-src 'nonce-{nonce}'; {GUARDED} dompurify"
    )
}

/// Returns the policy under which only our own scripts run, and Plotly's, which gets the nonce from them. Plotly makes pictures
/// through URLs of its own memory.
fn charts_policy(nonce: &Nonce) -> String {
    format!(
        "sandbox allow-scripts; {NO_CONNECTIONS}; {OWN_IMAGES} blob:; script-src 'nonce-{nonce}'; {GUARDED}"
    )
}

/// The page that draws diagrams. It tells the URL of Mermaid's script, if this build has one.
fn diagrams_page(nonce: &Nonce) -> String {
    let script = Manifest::current().mermaid.unwrap_or_default();
    let (guard, diagrams) = (markup::GUARD, include_str!("diagrams.js"));
    format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><script nonce=\"{nonce}\">{guard}</script><body>\
         <script nonce=\"{nonce}\" data-mermaid=\"{script}\">{diagrams}</script>"
    )
}

/// The page that draws a chart.
fn charts_page(nonce: &Nonce) -> String {
    let (guard, charts) = (markup::GUARD, include_str!("charts.js"));
    format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><script nonce=\"{nonce}\">{guard}</script><body>\
         <script nonce=\"{nonce}\">{charts}</script>"
    )
}
