//! Access control: the checks before every handler.
//!
//! 1. `Host`: a page of another site can make its own name resolve to Parlor's address (DNS rebinding). Until there is an account,
//!    the setup page alone answers under any name; its token adds the name to those that are accepted.
//! 2. The identity ([`authentication`]): a token, a session, a user named by a proxy, or the local user.
//! 3. Cross-site requests (`Origin`, `Sec-Fetch-Site`), of every method: a request that only reads can also trigger requests to
//!    other servers.
//! 4. With accounts, everything needs an identity but the pages for signing in and for new accounts, shares with a link, the
//!    health checks and the files of the page.
//!
//! Other pages have no token, so a request with one may come from any origin ([`cors`] allows it). No browser
//! sends a token by itself, so it cannot be used in the user's name. A request with an invalid token is
//! rejected; it does not count as one without a token.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, header},
    middleware::Next,
    response::{IntoResponse, Redirect, Response},
};

use super::{
    accounts::{SETUP_PATH, whole_seconds},
    authentication::{self, Identity},
    client::{Client, PeerAddress},
    cors, error_response,
    health::is_health_path,
    metrics,
    origin::RequestHead,
    upload::SlowUpload,
};
use crate::{
    app::{
        AppState,
        access::{Access, Credential},
        accounts::RequestKey,
        tokens,
    },
    assets,
};
use parlor_base::settings::AuthMode;
use parlor_protocol::{ApiError, ErrorCode};

/// Browsers that have seen it use TLS for a year.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Accepts or rejects a request, and adds the security headers to every response.
pub async fn guard(State(app): State<AppState>, mut request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<PeerAddress>().copied();
    let client = Client::new(peer, request.headers(), &app.settings.server.proxies);
    request.extensions_mut().insert(client);
    let head = RequestHead {
        method: request.method(),
        uri: request.uri(),
        headers: request.headers(),
    };
    let admitted = admit(&app, head, &client).await;
    let mut response = match admitted {
        Ok(Admission::Preflight) => cors::allow(request, next).await,
        Ok(Admission::CrossSiteSearch) => error_response::confirm_search_page(request.uri()),
        Ok(Admission::SignIn(page)) => Redirect::to(&page).into_response(),
        Ok(Admission::Granted(identity)) => {
            let extensions = request.extensions_mut();
            if let Some(access) = identity.access {
                tracing::Span::current().record("user_id", tracing::field::display(access.user_id));
                extensions.insert(access);
            }
            if let Some(account) = identity.account {
                extensions.insert(account);
            }
            call_next(request, next).await
        }
        Err(error) => error_response::respond(request.uri(), request.headers(), error),
    };
    let headers = response.headers_mut();
    add_security_headers(headers, &client);
    response
}

/// Runs the handler. If the body of the request arrives too slowly, the response is that error, whatever the
/// handler returns.
async fn call_next(request: Request, next: Next) -> Response {
    let slow = request.extensions().get::<SlowUpload>().cloned();
    let (uri, headers) = (request.uri().clone(), request.headers().clone());
    let response = next.run(request).await;
    if slow.is_some_and(|slow| slow.was_aborted()) {
        return error_response::respond(&uri, &headers, SlowUpload::error());
    }
    response
}

fn add_security_headers(headers: &mut HeaderMap, client: &Client) {
    let defaults = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    for (name, value) in defaults {
        // Frames have stricter ones, and may be framed by Parlor's page.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.insert(
        "cross-origin-opener-policy",
        HeaderValue::from_static("same-origin"),
    );
    headers.insert(
        "cross-origin-resource-policy",
        HeaderValue::from_static("same-origin"),
    );
    if client.is_tls {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HSTS);
    }
    // A page sets its own policy, with its nonce.
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(
            "default-src 'none'; frame-ancestors 'none'",
        ));
}

/// An accepted request.
pub(super) enum Admission {
    /// A browser asks whether a page of another site may send a token.
    Preflight,
    /// A page of another site opens a URL that asks other hosts, without a click by the user.
    CrossSiteSearch,
    /// People have to sign in first, on this page.
    SignIn(String),
    Granted(Identity),
}

/// Returns the admission of a request.
///
/// # Errors
///
/// If the request is rejected.
async fn admit(app: &AppState, head: RequestHead<'_>, client: &Client) -> Result<Admission, ApiError> {
    let (path, headers) = (head.uri.path(), head.headers);
    // A page of another site has no token, whatever the name under which it asks.
    if metrics::is_served_with_token(app, path) {
        count_request(app, path, None, client).await?;
        metrics::check_token(&app.settings, headers)?;
        return Ok(Admission::Granted(Identity::default()));
    }
    let allowed = &*app.hosts;
    let host = match head.check_host(allowed) {
        // Nobody can be signed in yet, and whoever has the setup token adds this name.
        Err(_) if app.accounts.is_awaiting_setup() && is_needed_for_setup(path) => head.named_host()?,
        Err(_) if allowed.reload_shared(&*app.storage).await => head.check_host(allowed)?,
        checked => checked?,
    };
    if head.is_upgrade() {
        let message = "Parlor supports HTTP only, no WebSockets. Nothing was done.";
        return Err(ApiError::new(ErrorCode::Forbidden, message));
    }
    if headers.get_all(header::CONTENT_TYPE).iter().nth(1).is_some() {
        let message = "The request has more than one Content-Type. Nothing was done.";
        return Err(ApiError::new(ErrorCode::BadRequest, message));
    }
    if is_api(path) {
        if cors::is_preflight(head.method, headers) {
            return Ok(Admission::Preflight);
        }
    } else if tokens::has_authorization(headers) {
        return Err(tokens::unauthorized("API tokens are accepted under /api/ only."));
    }
    let identified = authentication::identify(app, head, client).await;
    // Rejected requests count too: they may be guesses of tokens.
    count_request(app, path, identified.as_ref().ok(), client).await?;
    let identity = identified?;
    let has_token = matches!(
        identity.access,
        Some(Access {
            credential: Credential::Token { .. },
            ..
        })
    );
    if has_token {
        return Ok(Admission::Granted(identity));
    }
    head.check_site(&host, allowed)?;
    if !identity.may_open(app, path) {
        return authentication::reject(app, head).await;
    }
    let asks_others = app.pages.asks_other_hosts(path, head.uri.query().is_some());
    Ok(if asks_others && head.is_unclicked_cross_site() {
        Admission::CrossSiteSearch
    } else {
        Admission::Granted(identity)
    })
}

/// Returns true for the page that makes the first account, and for the files that it loads.
fn is_needed_for_setup(path: &str) -> bool {
    path == SETUP_PATH || assets::is_asset(path)
}

/// Counts a request of a server with accounts.
async fn count_request(
    app: &AppState,
    path: &str,
    identity: Option<&Identity>,
    client: &Client,
) -> Result<(), ApiError> {
    if app.accounts.mode() == AuthMode::None || assets::is_asset(path) {
        return Ok(());
    }
    let key = match identity.and_then(|identity| identity.access.as_ref()) {
        Some(access) => RequestKey::User(access.user_id),
        None => RequestKey::Address(client.address),
    };
    // Whether this process lives is asked while the database is away, too.
    let counted = match is_health_path(path) || metrics::is_served_with_token(app, path) {
        true => app.accounts.count_local_request(key),
        false => app.accounts.count_request(key).await,
    };
    counted.map_err(|wait| {
        let message =
            "Too many requests (setting accounts.requests_per_minute). Nothing was done; try again in a moment.";
        ApiError::new(ErrorCode::TooManyRequests, message).with_retry_after(Some(whole_seconds(wait)))
    })
}

/// Returns true if a path belongs to the public contract. The page's server functions do not.
pub fn is_api(path: &str) -> bool {
    is_path_below("/api", path)
}

/// Returns true if a path is one of the page's server functions.
pub fn is_rpc(path: &str) -> bool {
    is_path_below("/rpc", path)
}

/// Returns true if a path equals `top` or lies below it.
pub fn is_path_below(top: &str, path: &str) -> bool {
    path.strip_prefix(top)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
