//! Errors of the public contract: RFC 9457 problem details with a stable `code`.

use axum::{
    Json,
    extract::rejection::JsonRejection,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::api::{ApiError, ErrorCode};

/// An [`ApiError`] as the public contract shows it.
#[derive(Debug)]
pub struct Problem(pub ApiError);

impl<E: Into<ApiError>> From<E> for Problem {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let ApiError { code, message } = self.0;
        let status = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = json!({
            "type": "about:blank",
            "title": status.canonical_reason(),
            "status": status.as_u16(),
            "detail": message,
            "code": code.as_str(),
        });
        let mut response = (status, Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            header::HeaderValue::from_static("application/problem+json"),
        );
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, header::HeaderValue::from_static("2"));
        }
        response
    }
}

/// A request of the wrong form.
pub fn bad_request(message: impl Into<String>) -> Problem {
    Problem(ApiError::new(ErrorCode::BadRequest, message))
}

impl From<JsonRejection> for ApiError {
    fn from(rejection: JsonRejection) -> Self {
        let code = match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => ErrorCode::TooLarge,
            _ => ErrorCode::BadRequest,
        };
        Self::new(code, rejection.body_text())
    }
}

pub async fn unknown_route() -> Problem {
    Problem(ApiError::new(
        ErrorCode::NotFound,
        "There is no such address in Parlor's API.",
    ))
}
