//! The routes: OpenAI's under `/v1`, the tests' under `/control`, pages everywhere else.

use std::sync::Arc;

use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Path, State as Extract},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::{Value, json};

use crate::{
    models::{BUILT_IN_MODELS, built_in_script},
    pages::{self, PlacedPage},
    play,
    script::RequestSummary,
    state::{CapturedRequest, ModelListing, ScriptRule, UpstreamState},
};

pub fn router(state: Arc<UpstreamState>) -> Router {
    Router::new()
        .route("/v1/models", get(get_models))
        .route("/v1/chat/completions", post(post_chat))
        .route("/control/scripts", post(add_script))
        .route("/control/models", post(set_listing))
        .route("/control/pages", post(add_page))
        .route("/control/key", post(set_key))
        .route("/control/gates/{name}", post(open_gate).get(wait_for_gate))
        .route("/control/requests", get(get_requests))
        .route("/control/state", get(get_facts))
        .route("/control/reset", post(post_reset))
        .fallback(pages::serve_page)
        // A script may contain all of the largest answer.
        .layer(DefaultBodyLimit::disable())
        .with_state(state)
}

async fn get_models(Extract(state): Extract<Arc<UpstreamState>>, uri: Uri, headers: HeaderMap) -> Response {
    capture(&state, &Method::GET, &uri, &headers, Value::Null);
    if let Some(refusal) = check_key(&state, &headers) {
        return refusal;
    }
    if let Some(ModelListing {
        status,
        body,
        headers,
    }) = state.listing()
    {
        let mut response = (StatusCode::from_u16(status).unwrap_or_default(), Json(body)).into_response();
        for (name, value) in headers {
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                response.headers_mut().insert(name, value);
            }
        }
        return response;
    }
    let names = BUILT_IN_MODELS
        .into_iter()
        .map(str::to_owned)
        .chain(state.scripted_models());
    let data: Vec<Value> = names
        .enumerate()
        // Earlier models are newer: clients that sort by age keep the order.
        .map(|(index, id)| json!({"id": id, "object": "model", "created": 1000 - index, "owned_by": "upstream"}))
        .collect();
    Json(json!({"object": "list", "data": data})).into_response()
}

async fn post_chat(
    Extract(state): Extract<Arc<UpstreamState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let asked = RequestSummary {
        model: request["model"].as_str().unwrap_or_default().to_owned(),
        user: last_user_message(&request),
        tool: last_tool_output(&request),
    };
    let is_streamed = request["stream"] == json!(true);
    capture(&state, &Method::POST, &uri, &headers, request);
    if let Some(refusal) = check_key(&state, &headers) {
        return refusal;
    }
    if !is_streamed {
        return error_response(
            StatusCode::BAD_REQUEST,
            "Only streamed answers here.",
            "invalid_request_error",
        );
    }
    match state
        .script_for(&asked)
        .or_else(|| built_in_script(&asked.model, &asked.user))
    {
        Some(script) => play::respond(state, &asked.model, script).await,
        None => error_response(
            StatusCode::NOT_FOUND,
            &format!("The model `{}` does not exist.", asked.model),
            "model_not_found",
        ),
    }
}

/// Returns the text of the last user message without Parlor's metadata: the models respond to the user's
/// text.
fn last_user_message(request: &Value) -> String {
    let mut messages = request["messages"].as_array().into_iter().flatten();
    let message = messages.rfind(|message| message["role"] == "user");
    let text = message.map(message_text).unwrap_or_default();
    without_metadata(&text).to_owned()
}

/// Returns a message without the metadata comment at its beginning.
pub fn without_metadata(text: &str) -> &str {
    let block = text.strip_prefix("<!-- METADATA: ");
    block
        .and_then(|block| block.split_once(" -->\n"))
        .map_or(text, |(_, said)| said)
}

/// Returns the text of the last message, if it is a tool's.
fn last_tool_output(request: &Value) -> Option<String> {
    let last = request["messages"].as_array()?.last()?;
    (last["role"] == "tool").then(|| message_text(last))
}

/// Returns a message's text, also if it has several parts.
fn message_text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        parts => parts
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|part| part["text"].as_str())
            .collect::<String>(),
    }
}

fn check_key(state: &UpstreamState, headers: &HeaderMap) -> Option<Response> {
    let key = state.required_key()?;
    let given = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    (given != format!("Bearer {key}")).then(|| {
        error_response(
            StatusCode::UNAUTHORIZED,
            "Incorrect API key provided.",
            "invalid_api_key",
        )
    })
}

fn error_response(status: StatusCode, message: &str, code: &str) -> Response {
    let error = json!({"message": message, "type": "invalid_request_error", "param": null, "code": code});
    (status, Json(json!({"error": error}))).into_response()
}

pub fn capture(state: &UpstreamState, method: &Method, uri: &Uri, headers: &HeaderMap, body: Value) {
    let headers = headers
        .iter()
        .map(|(name, value)| {
            (
                name.to_string(),
                String::from_utf8_lossy(value.as_bytes()).into_owned(),
            )
        })
        .collect();
    state.capture(CapturedRequest {
        method: method.to_string(),
        path: uri.path().to_owned(),
        query: uri.query().unwrap_or_default().to_owned(),
        headers,
        body,
    });
}

async fn add_script(Extract(state): Extract<Arc<UpstreamState>>, Json(rule): Json<ScriptRule>) {
    state.add_script(rule);
}

async fn set_listing(Extract(state): Extract<Arc<UpstreamState>>, Json(listing): Json<Option<ModelListing>>) {
    state.set_listing(listing);
}

async fn add_page(Extract(state): Extract<Arc<UpstreamState>>, Json(placed): Json<PlacedPage>) {
    state.add_page(placed);
}

async fn set_key(Extract(state): Extract<Arc<UpstreamState>>, Json(key): Json<Option<String>>) {
    state.set_required_key(key);
}

async fn open_gate(Extract(state): Extract<Arc<UpstreamState>>, Path(name): Path<String>) {
    state.open_gate(&name);
}

/// Responds when an answer has reached the gate.
async fn wait_for_gate(Extract(state): Extract<Arc<UpstreamState>>, Path(name): Path<String>) {
    state.wait_for_gate(&name).await;
}

async fn get_requests(Extract(state): Extract<Arc<UpstreamState>>) -> Json<Vec<CapturedRequest>> {
    Json(state.requests())
}

async fn get_facts(Extract(state): Extract<Arc<UpstreamState>>) -> Json<Value> {
    Json(json!({"open_streams": state.open_streams()}))
}

async fn post_reset(Extract(state): Extract<Arc<UpstreamState>>) {
    state.reset();
}
