//! Who may call at all: until there are accounts, only pages of Parlor itself and programs on this machine, and who has a token.
//!
//! The server listens on loopback only. What is left to fend off is other web pages in this machine's
//! browsers: by a name of theirs that resolves to loopback (DNS rebinding: `Host`), and by requests across
//! sites (`Origin`, `Sec-Fetch-Site`), whatever their method: also those that only read, since that can have others asked. Other
//! pages have no token, so whoever has one may come from anywhere ([`cors`] lets them); and since no browser sends one by itself, it
//! can't be sent in somebody's name. A token that is not taken is no request without one.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, header},
    middleware::Next,
    response::Response,
};

use super::{cors, error_response, origin::RequestHead, upload::SlowUpload};
use crate::{
    app::{
        AppState,
        tokens::{self, Access},
    },
    protocol::{ApiError, ErrorCode},
};

/// Lets a request through or refuses it, and puts the headers on every answer that keep browsers careful.
pub async fn guard(State(app): State<AppState>, mut request: Request, next: Next) -> Response {
    let with_token = is_api(request.uri().path()) && request.headers().contains_key(header::AUTHORIZATION);
    let asked = RequestHead {
        method: request.method(),
        uri: request.uri(),
        headers: request.headers(),
    };
    let admitted = admit(&app, asked).await;
    let mut response = match admitted {
        Ok(Admission::Preflight) => cors::preflight_response(),
        Ok(Admission::CrossSiteSearch) => error_response::confirm_search_page(request.uri()),
        Ok(Admission::Granted(access)) => {
            if let Some(access) = access {
                request.extensions_mut().insert(access);
            }
            call_next(request, next).await
        }
        Err(error) => error_response::respond(request.uri(), request.headers(), error),
    };
    let headers = response.headers_mut();
    if with_token {
        cors::add_cors_headers(headers);
    }
    add_security_headers(headers);
    response
}

/// Answers a request. One whose body does not come is answered with that, whatever was made of it.
async fn call_next(request: Request, next: Next) -> Response {
    let slow = request.extensions().get::<SlowUpload>().cloned();
    let (uri, headers) = (request.uri().clone(), request.headers().clone());
    let response = next.run(request).await;
    if slow.is_some_and(|slow| slow.has_ended()) {
        let mut response = error_response::respond(&uri, &headers, SlowUpload::error());
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
        return response;
    }
    response
}

fn add_security_headers(headers: &mut HeaderMap) {
    let always = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    for (name, value) in always {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(
        "cross-origin-opener-policy",
        HeaderValue::from_static("same-origin"),
    );
    headers.insert(
        "cross-origin-resource-policy",
        HeaderValue::from_static("same-origin"),
    );
    // A page brings its own, with its nonce.
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(
            "default-src 'none'; frame-ancestors 'none'",
        ));
}

/// A request that may come.
enum Admission {
    /// A browser asks whether a page of another site may send a token.
    Preflight,
    /// A page of another site opens a search, and no person has asked for that.
    CrossSiteSearch,
    /// The token that it came with.
    Granted(Option<Access>),
}

/// Says what a request may do; an error if it may not come at all.
async fn admit(app: &AppState, asked: RequestHead<'_>) -> Result<Admission, ApiError> {
    let (path, headers) = (asked.uri.path(), asked.headers);
    let allowed = &app.settings.server.allowed_hosts;
    let host = asked.check_host(allowed)?;
    if asked.is_upgrade() {
        let why = "Parlor speaks HTTP only: it has no WebSockets. Nothing was done.";
        return Err(ApiError::new(ErrorCode::Forbidden, why));
    }
    if headers.get_all(header::CONTENT_TYPE).iter().nth(1).is_some() {
        let why = "The request has more than one Content-Type. Nothing was done.";
        return Err(ApiError::new(ErrorCode::BadRequest, why));
    }
    if is_api(path) {
        if cors::is_preflight(asked.method, headers) {
            return Ok(Admission::Preflight);
        }
        if let Some(access) = app.tokens.authenticate(headers).await? {
            return Ok(Admission::Granted(Some(access)));
        }
    } else if tokens::has_authorization(headers) {
        return Err(tokens::unauthorized("API tokens are taken under /api/ only."));
    }
    asked.check_site(&host, allowed)?;
    Ok(if asked.is_cross_site_search() {
        Admission::CrossSiteSearch
    } else {
        Admission::Granted(None)
    })
}

/// Whether an address is one of the public contract. The page's own functions are not.
pub fn is_api(path: &str) -> bool {
    is_path_below("/api", path)
}

/// Whether an address is one of the page's own functions.
pub fn is_rpc(path: &str) -> bool {
    is_path_below("/rpc", path)
}

/// Whether a path is this one, or leads further from it.
pub fn is_path_below(top: &str, path: &str) -> bool {
    path.strip_prefix(top)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
