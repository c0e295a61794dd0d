//! Errors of the public contract: RFC 9457 problem details with a stable `code`.

use std::str::FromStr;

use axum::{
    Json,
    extract::{
        Path,
        rejection::{JsonRejection, PathRejection, QueryRejection},
    },
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;

use crate::{
    app::not_found,
    protocol::{ApiError, ConversationId, ErrorCode, MessageId, error::excerpt},
};

/// In how many seconds what did not work just now is worth another try.
pub const RETRY_AFTER: header::HeaderValue = header::HeaderValue::from_static("2");

/// The media type of problems.
pub const PROBLEM_JSON: header::HeaderValue = header::HeaderValue::from_static("application/problem+json");
/// How a request says whose it is (RFC 6750).
const BEARER_CHALLENGE: header::HeaderValue =
    header::HeaderValue::from_static("Bearer realm=\"Parlor\", error=\"invalid_token\"");

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
        let ApiError { code, message } = &self.0;
        let status = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = respond(status, code.as_str(), message, &NoExtensions {});
        // Under `/rpc`, errors have another form.
        response.extensions_mut().insert(self.0);
        response
    }
}

/// What is in the body of a problem.
#[derive(Serialize)]
struct Body<'a, M> {
    r#type: &'static str,
    title: Option<&'static str>,
    status: u16,
    detail: &'a str,
    code: &'a str,
    #[serde(flatten)]
    more: &'a M,
}

#[derive(Serialize)]
struct NoExtensions {}

/// A problem that says more than others do: `more` is an object whose fields stand beside the others.
pub fn respond(status: StatusCode, code: &str, detail: &str, more: &impl Serialize) -> Response {
    let body = Body {
        r#type: "about:blank",
        title: status.canonical_reason(),
        status: status.as_u16(),
        detail,
        code,
        more,
    };
    let mut response = (status, Json(body)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, PROBLEM_JSON);
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(header::RETRY_AFTER, RETRY_AFTER);
    }
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, BEARER_CHALLENGE);
    }
    response
}

/// A request that is longer than the limit of all requests.
pub fn request_too_large() -> ApiError {
    ApiError::new(
        ErrorCode::TooLarge,
        "The request is longer than Parlor takes (setting limits.request_bytes). Nothing was changed.",
    )
}

/// A request of the wrong form.
pub fn bad_request(message: impl Into<String>) -> Problem {
    Problem(ApiError::new(ErrorCode::BadRequest, message))
}

impl From<QueryRejection> for ApiError {
    fn from(rejection: QueryRejection) -> Self {
        Self::new(ErrorCode::BadRequest, excerpt(&rejection.body_text()))
    }
}

impl From<JsonRejection> for ApiError {
    fn from(rejection: JsonRejection) -> Self {
        match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => request_too_large(),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Self::new(
                ErrorCode::UnsupportedMediaType,
                "The request's body has to be JSON, with Content-Type: application/json. Nothing was changed.",
            ),
            _ => Self::new(ErrorCode::BadRequest, excerpt(&rejection.body_text())),
        }
    }
}

/// The message (or run) that an address names.
pub fn parse_message_id(path: Result<Path<String>, PathRejection>) -> Result<MessageId, Problem> {
    parse_id(path)
}

/// The conversation that an address names.
pub fn parse_conversation_id(path: Result<Path<String>, PathRejection>) -> Result<ConversationId, Problem> {
    parse_id(path)
}

/// The conversation that an address names, and what of it.
pub fn parse_conversation_item(
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<(ConversationId, String), Problem> {
    let Path((conversation_id, what)) = path.map_err(|_| not_found())?;
    Ok((parse_id(Ok(Path(conversation_id)))?, what))
}

/// What an address names by its id.
pub fn parse_id<T: FromStr>(path: Result<Path<String>, PathRejection>) -> Result<T, Problem> {
    let id = path.ok().and_then(|Path(id)| id.parse().ok());
    id.ok_or_else(|| Problem(not_found()))
}
