//! The figures of the server for Prometheus: at an address of their own, or with a token at that of the page. Without either,
//! the path does not exist.

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};

use super::origin::{self, RequestHead};
use crate::app::{AppState, accounts::secret, tokens};
use parlor_base::{
    metrics::CONTENT_TYPE,
    settings::{Secret, Settings},
};
use parlor_protocol::ApiError;

/// The path of the figures.
const PATH: &str = "/metrics";

/// Returns the route at the address of the page, if there is a token.
pub fn routes(app: &AppState) -> Router<AppState> {
    match app.settings.metrics.token {
        Some(_) => Router::new().route("/metrics", get(scrape)),
        None => Router::new(),
    }
}

/// Returns true if a path at the address of the page needs the token, and nothing else.
pub fn is_served_with_token(app: &AppState, path: &str) -> bool {
    path == PATH && app.settings.metrics.token.is_some()
}

/// Returns the router of the address of their own.
pub fn own_router(app: AppState) -> Router {
    Router::new()
        .route("/metrics", get(scrape))
        .layer(middleware::from_fn_with_state(app.clone(), guard))
        .with_state(app)
}

async fn scrape(State(app): State<AppState>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, CONTENT_TYPE),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, app.encode_metrics().await).into_response()
}

/// Checks a request at the address of their own: the token if there is one, otherwise that no page of another site has sent it.
async fn guard(State(app): State<AppState>, request: Request, next: Next) -> Response {
    let checked = match app.settings.metrics.token {
        Some(_) => {
            check_token(&app.settings, request.headers()).map_err(|error| (StatusCode::UNAUTHORIZED, error))
        }
        None => check_host(&app, &request).map_err(|error| (StatusCode::FORBIDDEN, error)),
    };
    let mut response = match checked {
        Ok(()) => next.run(request).await,
        Err((status, error)) => (status, error.message + "\n").into_response(),
    };
    let nosniff = HeaderValue::from_static("nosniff");
    response
        .headers_mut()
        .insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    response
}

/// Checks the host that a request names. A page of another site can make its own name resolve to this address, but neither an IP
/// address nor a name without a dot, as those of containers.
fn check_host(app: &AppState, request: &Request) -> Result<(), ApiError> {
    let head = RequestHead {
        method: request.method(),
        uri: request.uri(),
        headers: request.headers(),
    };
    let host = head.named_host()?;
    if origin::ip_address(&host).is_some() || !host.host().contains('.') {
        return Ok(());
    }
    head.check_host(&app.hosts).map(drop)
}

/// Checks the token of a request.
///
/// # Errors
///
/// If it is missing or another one. The error does not say which.
pub fn check_token(settings: &Settings, headers: &HeaderMap) -> Result<(), ApiError> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let given = match (values.next(), values.next()) {
        (Some(value), None) => tokens::parse_bearer(value),
        _ => None,
    };
    // Hashes are compared: the time of that tells nothing of the token.
    let is_it =
        |Secret(token): &Secret| given.is_some_and(|given| secret::sha256(given) == secret::sha256(token));
    match settings.metrics.token.as_ref().is_some_and(is_it) {
        true => Ok(()),
        false => Err(tokens::unauthorized("This needs a token. Nothing was done.")),
    }
}
