//! What pages of other sites may ask for and read (CORS): the public contract, with a token.
//!
//! A browser asks first whether a page may send one, with a request that has none itself. It is told yes, whichever page it is:
//! what comes from another site without a token is refused all the same. Nothing that a browser would send by itself counts, so
//! every origin can be named by `*`.

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

/// What the contract reads of a request, besides what every page may send.
const ALLOWED_HEADERS: &str = "authorization, content-type, idempotency-key, last-event-id";

/// What the contract says in headers, besides what every page may read.
const EXPOSED_HEADERS: &str = "location, retry-after, www-authenticate";

/// For how many seconds a browser need not ask again.
const MAX_AGE_SECONDS: &str = "600";

/// Whether a browser asks if a page may send a token.
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

/// It may.
pub fn preflight_response() -> Response {
    let headers = [
        (ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS),
        (ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS),
        (ACCESS_CONTROL_MAX_AGE, MAX_AGE_SECONDS),
        (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Lets the page read an answer.
pub fn add_cors_headers(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(EXPOSED_HEADERS),
    );
}
