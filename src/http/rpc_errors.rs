//! Server functions that fail before or beside their own code (a body that is too long, arguments that can't be read) answer as
//! those do that fail within it: with an [`ApiError`] and the status that goes with it.

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderValue, StatusCode, header},
    middleware::Next,
    response::Response,
};

use super::problem::{RETRY_AFTER, too_large};
use crate::api::{ApiError, ErrorCode};

/// More than any error has to say.
const LONGEST: usize = 64 << 10;

/// Gives the errors under `/rpc` their form.
pub async fn complete(request: Request, next: Next) -> Response {
    let is_rpc = request.uri().path().starts_with("/rpc/");
    let response = next.run(request).await;
    if !is_rpc || response.status().is_success() || response.status().is_redirection() {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let body = to_bytes(body, LONGEST).await.unwrap_or_default();
    let error = serde_json::from_slice(&body).unwrap_or_else(|_| match parts.status {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(),
        StatusCode::NOT_FOUND => ApiError::new(
            ErrorCode::NotFound,
            "This server has no such function: it is of another version than the page. Reload the page.",
        ),
        status => {
            let said = String::from_utf8_lossy(&body);
            tracing::error!(%status, %said, "a server function failed");
            ApiError::new(
                ErrorCode::Internal,
                "Something went wrong in Parlor. Its log says what.",
            )
        }
    });
    parts.status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    parts.headers.remove(header::CONTENT_LENGTH);
    parts
        .headers
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if parts.status == StatusCode::SERVICE_UNAVAILABLE {
        parts.headers.insert(header::RETRY_AFTER, RETRY_AFTER);
    }
    let body = serde_json::to_vec(&error).map_or(body, Into::into);
    Response::from_parts(parts, Body::from(body))
}
