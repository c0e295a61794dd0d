//! Errors of the public contract: RFC 9457 problem details with a stable `code`.

use std::str::FromStr;

use aide::OperationOutput;
use axum::{
    Json,
    extract::{
        Path,
        rejection::{JsonRejection, PathRejection, QueryRejection},
    },
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

use super::error_response::{add_retry_after, status};
use crate::app::not_found;
use parlor_protocol::{ApiError, ConversationId, ErrorCode, MessageId, error::excerpt};

/// The delay in seconds before a retry after a temporary failure.
pub const RETRY_AFTER: header::HeaderValue = header::HeaderValue::from_static("2");

/// The media type of problems.
pub const PROBLEM_JSON: header::HeaderValue = header::HeaderValue::from_static("application/problem+json");
/// The accepted authentication scheme (RFC 6750).
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
        let ApiError {
            code,
            message,
            retry_after,
        } = &self.0;
        let mut response = respond(
            status(&self.0),
            code.as_str(),
            message,
            &CommonExtensions::default(),
        );
        add_retry_after(response.headers_mut(), *retry_after);
        // The layer of `/rpc` formats errors differently.
        response.extensions_mut().insert(self.0);
        response
    }
}

/// The error responses are listed by the operations.
impl OperationOutput for Problem {
    type Inner = Self;
}

// The document describes a body by its extension `M`: `Problem`, `FailedRun`, `StoppedWaiting`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "{M}")]
pub(super) struct Body<'a, M> {
    /// Always `about:blank`.
    r#type: &'static str,
    /// The name of the HTTP status.
    title: &'static str,
    /// The HTTP status.
    #[schemars(range(min = 400, max = 599))]
    status: u16,
    /// A text for people: what happened, what was kept and what to do.
    detail: &'a str,
    /// A stable error code.
    #[schemars(schema_with = "code_schema")]
    code: &'a str,
    #[serde(flatten)]
    more: &'a M,
}

/// Problem details (RFC 9457).
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(super) struct CommonExtensions {
    /// Only for unknown paths: the existing ones, each with its methods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub addresses: Option<&'static [String]>,
}

/// The codes of requests, and those of runs whose answer a client waits for.
fn code_schema(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = ErrorCode::json_schema(generator);
    if let Some(codes) = schema.get_mut("oneOf").and_then(Value::as_array_mut) {
        codes.push(json!({ "const": "run_failed", "description": "502: the answer failed." }));
        codes.push(json!({ "const": "run_interrupted", "description": "502: the answer was interrupted." }));
    }
    schema
}

/// Returns a problem with more fields than usual: `more` is an object whose fields are added to the body.
pub fn respond(status: StatusCode, code: &str, detail: &str, more: &impl Serialize) -> Response {
    let body = Body {
        r#type: "about:blank",
        title: status.canonical_reason().unwrap_or_default(),
        status: status.as_u16(),
        detail,
        code,
        more,
    };
    let mut response = (status, Json(body)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, PROBLEM_JSON);
    if matches!(
        status,
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS
    ) {
        headers.insert(header::RETRY_AFTER, RETRY_AFTER);
    }
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, BEARER_CHALLENGE);
    }
    response
}

/// Returns the error for a request that exceeds the limit of all requests.
pub fn request_too_large() -> ApiError {
    ApiError::new(
        ErrorCode::TooLarge,
        "The request is longer than the limit (setting limits.request_bytes). Nothing was changed.",
    )
}

/// Returns the error for a malformed request.
pub fn bad_request(message: impl Into<String>) -> Problem {
    Problem(ApiError::new(ErrorCode::BadRequest, message))
}

/// Returns the error for a query that can't be read.
pub fn rejected_query(rejection: &QueryRejection) -> Problem {
    bad_request(excerpt(&rejection.body_text()))
}

/// Returns the error for a body that can't be read.
pub fn rejected_body(rejection: &JsonRejection) -> Problem {
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => request_too_large().into(),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Problem(ApiError::new(
            ErrorCode::UnsupportedMediaType,
            "The request's body must be JSON, with Content-Type: application/json. Nothing was changed.",
        )),
        _ => bad_request(excerpt(&rejection.body_text())),
    }
}

/// Parses the id of a message (or run) in the path.
pub fn parse_message_id(path: Result<Path<String>, PathRejection>) -> Result<MessageId, Problem> {
    parse_id(path)
}

/// Parses the id of a conversation in the path.
pub fn parse_conversation_id(path: Result<Path<String>, PathRejection>) -> Result<ConversationId, Problem> {
    parse_id(path)
}

/// Parses the id of a conversation and of an item in it.
pub fn parse_conversation_item(
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<(ConversationId, String), Problem> {
    let Path((conversation_id, what)) = path.map_err(|_| not_found())?;
    Ok((parse_id(Ok(Path(conversation_id)))?, what))
}

/// Parses the ids of two things in the path.
pub fn parse_ids<T: FromStr, U: FromStr>(
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<(T, U), Problem> {
    let Path((first, second)) = path.map_err(|_| not_found())?;
    Ok((parse_id(Ok(Path(first)))?, parse_id(Ok(Path(second)))?))
}

/// Parses the id in the path.
pub fn parse_id<T: FromStr>(path: Result<Path<String>, PathRejection>) -> Result<T, Problem> {
    let id = path.ok().and_then(|Path(id)| id.parse().ok());
    id.ok_or_else(|| Problem(not_found()))
}
