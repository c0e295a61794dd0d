//! The URLs of shares: `/shared/{key}`. The page is one of Leptos's; here is what it loads, and the headers of all of them.
//!
//! A key is a secret or the id of a share that names its readers ([`app::sharing`](crate::app::sharing)). Whatever a visitor may
//! not see gets the response of a URL that does not exist.

mod files;
mod stream;

pub use self::files::file_response;

use axum::{
    Router,
    extract::{FromRequestParts, Path, Request, State},
    http::{HeaderValue, Method, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Redirect, Response},
    routing::get,
};

use super::{accounts, problem::Problem, security::is_path_below};
use crate::app::{AppState, access::Access, sharing};
use parlor_protocol::sharing::shared_key;
use parlor_storage::shares::StoredShare;

/// The server functions of readers.
const RPC_PATHS: [&str; 2] = ["/rpc/shared_conversation", "/rpc/shared_payload"];

/// Returns the routes of what a shared page loads.
pub fn routes() -> Router<AppState> {
    Router::new()
        .route("/shared/{key}/events", get(stream::follow))
        .route("/shared/{key}/files/{file_id}", get(files::file))
        .route("/shared/{key}/files/{file_id}/picture", get(files::picture))
        .route("/shared/{key}/payloads/{payload_id}/file", get(files::payload))
}

/// Returns true if people who are not signed in may open a path.
pub fn is_public(path: &str) -> bool {
    is_shared(path) || RPC_PATHS.contains(&path)
}

fn is_shared(path: &str) -> bool {
    path != "/shared" && is_path_below("/shared", path)
}

/// Keeps the URL of a share, which may be a secret, from other sites, search engines and caches.
pub async fn add_headers(State(app): State<AppState>, request: Request, next: Next) -> Response {
    if !is_shared(request.uri().path()) {
        return next.run(request).await;
    }
    let access = request.extensions().get::<Access>();
    let key = shared_key(request.uri().path()).unwrap_or_default();
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let mut response = if is_read && sharing::may_need_sign_in(&app, key, access) {
        Redirect::to(&accounts::sign_in_path(request.uri())).into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::REFERRER_POLICY.as_str(), "no-referrer"),
        (header::CACHE_CONTROL.as_str(), "no-store"),
        ("x-robots-tag", "noindex, nofollow"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The share that a URL names, which the visitor may read.
pub struct Shared {
    app: AppState,
    key: String,
    access: Option<Access>,
    share: StoredShare,
}

impl FromRequestParts<AppState> for Shared {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, Problem> {
        // Not `Path`: a key has one form, so that what is percent-encoded is none.
        let rest = shared_key(parts.uri.path()).unwrap_or_default();
        let key = rest.split('/').next().unwrap_or_default().to_owned();
        let access = parts.extensions.get::<Access>().cloned();
        let found = sharing::find(app, &key, access.as_ref()).await?;
        let share = found.ok_or_else(sharing::not_shared)?;
        Ok(Self {
            app: app.clone(),
            key,
            access,
            share,
        })
    }
}

/// The last part of a URL, which names something of the share.
pub type ItemPath = Path<(String, String)>;
