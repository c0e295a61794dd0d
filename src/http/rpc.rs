//! The layer around the server functions under `/rpc`: the requests that may reach them, and the form of
//! their errors. A request that fails before or outside their code (a body that is too long, malformed
//! arguments) gets the same form of response as an error within it: an [`ApiError`] and its status.

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::Response,
};

use super::{
    problem::{RETRY_AFTER, request_too_large},
    security::is_rpc,
};
use parlor_protocol::{ApiError, ErrorCode};

/// The maximum size of an error's body, in bytes. None is longer, as [`ApiError::new`] limits the message.
const MAX_ERROR_BODY_BYTES: usize = 256 << 10;

/// The URL of the page's uploads. Their type is neither that of a form nor that of a page's script without permission.
pub const UPLOAD_PATH: &str = "/rpc/files";

/// Checks requests to `/rpc` and formats their errors.
pub async fn check_and_format_errors(mut request: Request, next: Next) -> Response {
    if !is_rpc(request.uri().path()) {
        return next.run(request).await;
    }
    let is_upload = is_upload_path(request.uri().path()) && is_octet_stream(request.headers());
    if request.method() == Method::POST && !is_json(request.headers()) && !is_upload {
        return respond(&ApiError::new(
            ErrorCode::UnsupportedMediaType,
            "The request's body must be JSON, with Content-Type: application/json. Nothing was changed.",
        ));
    }
    // Server functions respond to plain forms with a redirect to the previous page. No page of Parlor has such
    // forms.
    request.headers_mut().remove(header::ACCEPT);
    // Server functions know no HEAD. The router drops the body of the response.
    if request.method() == Method::HEAD {
        *request.method_mut() = Method::GET;
    }
    let response = next.run(request).await;
    if response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let error = match parts.extensions.remove::<ApiError>() {
        Some(error) => error,
        None => {
            let body = to_bytes(body, MAX_ERROR_BODY_BYTES).await.unwrap_or_default();
            serde_json::from_slice(&body).unwrap_or_else(|_| error_from_status(parts.status, &body))
        }
    };
    let mut response = respond(&error);
    if let Some(allow) = parts.headers.remove(header::ALLOW) {
        response.headers_mut().insert(header::ALLOW, allow);
    }
    response
}

/// Returns true for the path of an upload, to a message or to a project, or of the picture of a chart.
fn is_upload_path(path: &str) -> bool {
    let of_message = path.strip_prefix(UPLOAD_PATH);
    let of_project = path.strip_prefix("/rpc/projects/");
    of_message.is_some_and(|rest| rest.is_empty() || rest.ends_with("/picture"))
        || of_project.is_some_and(|rest| rest.ends_with("/files"))
}

/// Returns the response for an error.
pub fn respond(error: &ApiError) -> Response {
    let body = serde_json::to_vec(error).unwrap_or_default();
    let mut response = Response::new(Body::from(body));
    let status = StatusCode::from_u16(error.code.status());
    *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    match error.retry_after {
        Some(seconds) => {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        None if error.code == ErrorCode::Unavailable => {
            headers.insert(header::RETRY_AFTER, RETRY_AFTER);
        }
        None => {}
    }
    response
}

/// Returns true if the content type is the one that the page sends. A page of another origin cannot send it
/// without a preflight request.
fn is_json(headers: &HeaderMap) -> bool {
    has_content_type(headers, "application/json")
}

/// Returns true if the content type is that of an upload, for which the same holds.
fn is_octet_stream(headers: &HeaderMap) -> bool {
    has_content_type(headers, "application/octet-stream")
}

fn has_content_type(headers: &HeaderMap, wanted: &str) -> bool {
    let value = headers.get(header::CONTENT_TYPE);
    let value = value.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = value.split_once(';').map_or(value, |(essence, _)| essence);
    essence.trim().eq_ignore_ascii_case(wanted)
}

/// Returns the error for a status that has no [`ApiError`] of its own.
fn error_from_status(status: StatusCode, body: &[u8]) -> ApiError {
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => request_too_large(),
        StatusCode::NOT_FOUND => ApiError::new(
            ErrorCode::NotFound,
            "This server has no such function: it is of another version than the page. Reload the page.",
        ),
        StatusCode::METHOD_NOT_ALLOWED => ApiError::new(
            ErrorCode::WrongMethod,
            "This function does not support this method; the header Allow lists the supported ones. Nothing was done.",
        ),
        status if status.is_client_error() => ApiError::new(
            ErrorCode::BadRequest,
            "The request could not be read. Nothing was done.",
        ),
        status => {
            let text = String::from_utf8_lossy(body);
            tracing::error!(%status, %text, "a server function failed");
            ApiError::new(
                ErrorCode::Internal,
                "Something went wrong. Try again. Parlor's log says more.",
            )
        }
    }
}
