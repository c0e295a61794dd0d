//! Cross-origin requests (CORS): pages of other sites can use the public contract with a token.
//!
//! A browser asks in advance whether a page may send a token, with a request that has none. The response is
//! always yes: a request from another site without a token is rejected anyway. Credentials that browsers send
//! by themselves do not count, so every origin is allowed by `*`.

use std::{sync::LazyLock, time::Duration};

use axum::{
    extract::Request,
    http::{
        HeaderMap, HeaderName, Method, StatusCode,
        header::{
            ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, CONTENT_TYPE,
            LOCATION, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE,
        },
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use tower::{Layer, ServiceExt};
use tower_http::cors::{Any, CorsLayer};

use super::security::is_api;

const ALLOWED_METHODS: [Method; 5] = [
    Method::GET,
    Method::POST,
    Method::PUT,
    Method::PATCH,
    Method::DELETE,
];

/// The request headers of the contract, besides those that CORS always allows.
const ALLOWED_HEADERS: [HeaderName; 4] = [
    AUTHORIZATION,
    CONTENT_TYPE,
    HeaderName::from_static("idempotency-key"),
    HeaderName::from_static("last-event-id"),
];

/// The response headers of the contract, besides those that CORS always exposes.
const EXPOSED_HEADERS: [HeaderName; 3] = [LOCATION, RETRY_AFTER, WWW_AUTHENTICATE];

/// The time for which a browser may cache a preflight response.
const MAX_AGE: Duration = Duration::from_secs(600);

/// The same headers for every origin, so no response varies.
static LAYER: LazyLock<CorsLayer> = LazyLock::new(|| {
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods(ALLOWED_METHODS)
        .allow_headers(ALLOWED_HEADERS)
        .expose_headers(EXPOSED_HEADERS)
        .max_age(MAX_AGE)
        .vary([])
});

/// Returns true if a browser asks whether a page may send a token.
pub fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    let mut wanted = headers
        .get_all(ACCESS_CONTROL_REQUEST_HEADERS)
        .iter()
        .filter_map(|names| names.to_str().ok())
        .flat_map(|names| names.split(','));
    method == Method::OPTIONS
        && headers.contains_key(ORIGIN)
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
        && wanted.any(|name| name.trim().eq_ignore_ascii_case(AUTHORIZATION.as_str()))
}

/// Returns the response to a preflight request, which allows the request. The layer does not call `next`.
pub async fn allow(request: Request, next: Next) -> Response {
    let response = respond(request, next).await;
    (StatusCode::NO_CONTENT, response).into_response()
}

/// Lets a page read the response to its request with a token. The layer would take any `OPTIONS` for a
/// preflight request, which has no token.
pub async fn expose_response(request: Request, next: Next) -> Response {
    let has_token = is_api(request.uri().path()) && request.headers().contains_key(AUTHORIZATION);
    if has_token && request.method() != Method::OPTIONS {
        respond(request, next).await
    } else {
        next.run(request).await
    }
}

async fn respond(request: Request, next: Next) -> Response {
    match LAYER.layer(next).oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}
