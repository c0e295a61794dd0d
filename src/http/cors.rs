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

const METHODS: &str = "GET, POST, PUT, PATCH, DELETE";

/// What the contract reads of a request, besides what every page may send.
const HEADERS: &str = "authorization, content-type, idempotency-key, last-event-id";

/// What the contract says in headers, besides what every page may read.
const READABLE: &str = "location, retry-after, www-authenticate";

/// For how many seconds a browser need not ask again.
const ASKED_EVERY: &str = "600";

/// Whether a browser asks if a page may send a token.
pub fn asks(method: &Method, headers: &HeaderMap) -> bool {
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
pub fn yes() -> Response {
    let headers = [
        (ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (ACCESS_CONTROL_ALLOW_HEADERS, HEADERS),
        (ACCESS_CONTROL_MAX_AGE, ASKED_EVERY),
        (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Lets the page read an answer.
pub fn let_read(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(READABLE));
}
