//! Access control: until there are accounts, only Parlor's own pages, programs on this machine, and clients
//! with a token.
//!
//! The server listens on loopback only. The remaining threat is other web pages in this machine's browsers:
//! through a name of theirs that resolves to loopback (DNS rebinding, checked by `Host`), and through
//! cross-site requests (`Origin`, `Sec-Fetch-Site`). This covers every method: a request that only reads can
//! also trigger requests to other servers.
//!
//! Other pages have no token, so a request with one may come from any origin ([`cors`] allows it). No browser
//! sends a token by itself, so it cannot be used in the user's name. A request with an invalid token is
//! rejected; it does not count as one without a token.

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

/// Accepts or rejects a request, and adds the security headers to every response.
pub async fn guard(State(app): State<AppState>, mut request: Request, next: Next) -> Response {
    let head = RequestHead {
        method: request.method(),
        uri: request.uri(),
        headers: request.headers(),
    };
    let admitted = admit(&app, head).await;
    let mut response = match admitted {
        Ok(Admission::Preflight) => cors::allow(request, next).await,
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
    add_security_headers(headers);
    response
}

/// Runs the handler. If the body of the request arrives too slowly, the response is that error, whatever the
/// handler returns.
async fn call_next(request: Request, next: Next) -> Response {
    let slow = request.extensions().get::<SlowUpload>().cloned();
    let (uri, headers) = (request.uri().clone(), request.headers().clone());
    let response = next.run(request).await;
    if slow.is_some_and(|slow| slow.was_aborted()) {
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
    // A page sets its own policy, with its nonce.
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(
            "default-src 'none'; frame-ancestors 'none'",
        ));
}

/// An accepted request.
enum Admission {
    /// A browser asks whether a page of another site may send a token.
    Preflight,
    /// A page of another site opens an address that asks other hosts, without a click by the user.
    CrossSiteSearch,
    /// The token of the request, if it has one.
    Granted(Option<Access>),
}

/// Returns the admission of a request.
///
/// # Errors
///
/// If the request is rejected.
async fn admit(app: &AppState, head: RequestHead<'_>) -> Result<Admission, ApiError> {
    let (path, headers) = (head.uri.path(), head.headers);
    let allowed = &app.settings.server.allowed_hosts;
    let host = head.check_host(allowed)?;
    if head.is_upgrade() {
        let why = "Parlor supports HTTP only, no WebSockets. Nothing was done.";
        return Err(ApiError::new(ErrorCode::Forbidden, why));
    }
    if headers.get_all(header::CONTENT_TYPE).iter().nth(1).is_some() {
        let why = "The request has more than one Content-Type. Nothing was done.";
        return Err(ApiError::new(ErrorCode::BadRequest, why));
    }
    if is_api(path) {
        if cors::is_preflight(head.method, headers) {
            return Ok(Admission::Preflight);
        }
        if let Some(access) = app.tokens.authenticate(headers).await? {
            return Ok(Admission::Granted(Some(access)));
        }
    } else if tokens::has_authorization(headers) {
        return Err(tokens::unauthorized("API tokens are accepted under /api/ only."));
    }
    head.check_site(&host, allowed)?;
    let asks_others = app.pages.asks_other_hosts(path, head.uri.query().is_some());
    Ok(if asks_others && head.is_unclicked_cross_site() {
        Admission::CrossSiteSearch
    } else {
        Admission::Granted(None)
    })
}

/// Returns true if an address belongs to the public contract. The page's server functions do not.
pub fn is_api(path: &str) -> bool {
    is_path_below("/api", path)
}

/// Returns true if an address is one of the page's server functions.
pub fn is_rpc(path: &str) -> bool {
    is_path_below("/rpc", path)
}

/// Returns true if a path equals `top` or lies below it.
pub fn is_path_below(top: &str, path: &str) -> bool {
    path.strip_prefix(top)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
