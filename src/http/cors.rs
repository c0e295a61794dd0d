//! Cross-origin requests (CORS): pages of other sites can use the public contract with a token.
//!
//! A browser asks in advance whether a page may send a token, with a request that has none. The answer is
//! always yes: a request from another site without a token is rejected anyway. Credentials that browsers send
//! by themselves do not count, so every origin is allowed by `*`.

use axum::{
    http::{
        HeaderMap, HeaderValue, Method, StatusCode,
        header::{
            ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
            ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
            ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, ORIGIN,
        },
    },
    response::{IntoResponse, Response},
};

const ALLOWED_METHODS: &str = "GET, POST, PUT, PATCH, DELETE";

/// The request headers of the contract, besides those that CORS always allows.
const ALLOWED_HEADERS: &str = "authorization, content-type, idempotency-key, last-event-id";

/// The response headers of the contract, besides those that CORS always exposes.
const EXPOSED_HEADERS: &str = "location, retry-after, www-authenticate";

/// The time for which a browser may cache a preflight response, in seconds.
const MAX_AGE_SECONDS: &str = "600";

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

/// Returns the response that allows the request.
pub fn preflight_response() -> Response {
    let headers = [
        (ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS),
        (ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS),
        (ACCESS_CONTROL_MAX_AGE, MAX_AGE_SECONDS),
        (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Lets the page read a response.
pub fn add_cors_headers(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(EXPOSED_HEADERS),
    );
}
