//! The frames of the pages of accounts. A handler returns the content alone, and a layer of its routes puts it into a page:
//! a card for people who are not signed in ([`card`]), the application with its list and tabs for the others ([`shell`]).
//! To the application itself, which has the frame already, the content is sent as it is.

use axum::{
    extract::{Request, State},
    http::{HeaderValue, Method, StatusCode, header, request::Parts},
    middleware::Next,
    response::{Html, IntoResponse, Response},
};
use leptos::prelude::*;

use super::{named_host, texts};
use crate::{
    app::AppState,
    http::{client::Client, document::Document, origin::is_loopback, page},
};
use parlor_ui::PART_HEADER;

/// The content of a page, in the extensions of a response.
#[derive(Clone)]
pub struct PageContent {
    pub title: &'static str,
    pub html: String,
    pub kind: ContentKind,
}

/// The kind of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentKind {
    Page,
    /// Nothing but an error.
    Failure,
    /// The user has just been signed out, so nothing of theirs is shown.
    SignedOut,
}

impl PageContent {
    /// Returns a response for a frame.
    pub fn respond(self, status: StatusCode) -> Response {
        let mut response = status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Shows the content as a card, in a document without scripts.
pub async fn card(request: Request, next: Next) -> Response {
    let is_in_clear = is_in_clear(&request);
    let mut response = next.run(request).await;
    match response.extensions_mut().remove::<PageContent>() {
        Some(content) => on_card(response, content, is_in_clear),
        None => response,
    }
}

/// Returns true if a request crosses a network without TLS, as far as Parlor can tell.
fn is_in_clear(request: &Request) -> bool {
    let is_tls = request
        .extensions()
        .get::<Client>()
        .is_some_and(|client| client.is_tls);
    let host = named_host(request.method(), request.uri(), request.headers());
    !is_tls && !host.is_some_and(|host| is_loopback(&host))
}

fn on_card(response: Response, content: PageContent, is_in_clear: bool) -> Response {
    let PageContent { title, html, kind } = content;
    let clear = (is_in_clear && kind == ContentKind::Page)
        .then(|| view! { <p class="account-note">{texts::WITHOUT_TLS}</p> });
    let home = (kind == ContentKind::Failure)
        .then(|| view! { <p><a class="button" href="/">{texts::BACK_TO_PARLOR}</a></p> });
    let document = Document {
        status: response.status(),
        title,
        classes: ("account-body", "account-card"),
        style: None,
        has_brand: true,
        content: view! { <div class="account-content" inner_html=html></div> {clear} {home} },
    };
    with_headers_of(response, document.respond())
}

/// Shows the content inside the application.
pub async fn shell(State(app): State<AppState>, request: Request, next: Next) -> Response {
    let is_in_clear = is_in_clear(&request);
    let (head, body) = request.into_parts();
    let mut response = next.run(Request::from_parts(head.clone(), body)).await;
    let Some(content) = response.extensions_mut().remove::<PageContent>() else {
        return response;
    };
    if content.kind == ContentKind::SignedOut {
        return on_card(response, content, false);
    }
    let html = tab(&head, content, is_in_clear);
    if head.headers.contains_key(PART_HEADER) {
        return with_headers_of(response, part(html));
    }
    let page = page::render_around(&app, head, html).await;
    with_headers_of(response, page)
}

/// The path of the tab of one's own account, and the beginning of its forms'.
const OWN_ACCOUNT: &str = "/settings/account";

/// Returns the content of a tab. It names its own URL: the answer to a form is shown at the form's, where it could not be
/// reloaded.
fn tab(head: &Parts, content: PageContent, is_in_clear: bool) -> String {
    let PageContent { title, html, .. } = content;
    let address = (head.method == Method::POST).then(|| page_of_form(head.uri.path()).to_owned());
    // Passwords are entered there.
    let clear = (is_in_clear && head.uri.path().starts_with(OWN_ACCOUNT))
        .then(|| view! { <p class="account-note">{texts::WITHOUT_TLS}</p> });
    view! {
        <h2 data-address=address>{title}</h2>
        {clear}
        <div class="account-content" inner_html=html></div>
    }
    .to_html()
}

/// Returns the path of the tab that a form belongs to.
pub fn page_of_form(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(tab, _)| tab)
}

fn part(html: String) -> Response {
    let mut response = Html(html).into_response();
    let headers = response.headers_mut();
    headers.insert(PART_HEADER, HeaderValue::from_static("1"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Moves the status and the headers of a handler's response to the page around it.
fn with_headers_of(response: Response, mut page: Response) -> Response {
    *page.status_mut() = response.status();
    for (name, value) in response.headers() {
        if name != header::CONTENT_LENGTH && name != header::CONTENT_TYPE {
            page.headers_mut().append(name, value.clone());
        }
    }
    page
}
