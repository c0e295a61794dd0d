//! Around each request: its id, which its lines of the log and its response have, and its figures.

use std::time::Instant;

use axum::{
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue},
    middleware::Next,
    response::Response,
};
use tracing::Instrument;
use uuid::Uuid;

use super::client::{Client, PeerAddress};
use crate::app::AppState;

/// The header with the id of a request.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The maximum length of an id that a proxy has given.
const MAX_ID_CHARS: usize = 64;

/// Names, measures and counts a request.
pub async fn measure(State(app): State<AppState>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = request.method().clone();
    // Not one of the time: that panics with a clock before 1970.
    let id = proxied_id(&app, &request).unwrap_or_else(|| Uuid::new_v4().to_string());
    // At the level of errors, so that it is there whatever the log's filter is.
    let span = tracing::error_span!("request", request_id = id, user_id = tracing::field::Empty);
    let answer = async {
        let response = next.run(request).await;
        let (status, took) = (response.status().as_u16(), began.elapsed());
        tracing::debug!(%method, route = route.as_ref().map(MatchedPath::as_str), status, ?took, "responded");
        response
    };
    let mut response = answer.instrument(span).await;
    app.metrics.http.count_request(
        route.as_ref().map(MatchedPath::as_str),
        method.as_str(),
        response.status().as_u16(),
        began.elapsed(),
    );
    if let Ok(id) = HeaderValue::try_from(id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// Returns the id that a named proxy has given the request.
fn proxied_id(app: &AppState, request: &Request) -> Option<String> {
    let id = given_id(request.headers())?;
    let peer = request.extensions().get::<PeerAddress>().copied();
    let client = Client::new(peer, request.headers(), &app.settings.server.proxies);
    client.is_proxied.then(|| id.to_owned())
}

fn given_id(headers: &HeaderMap) -> Option<&str> {
    let id = headers.get(REQUEST_ID)?.to_str().ok()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    (!id.is_empty() && id.len() <= MAX_ID_CHARS && id.chars().all(is_plain)).then_some(id)
}
