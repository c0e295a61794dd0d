//! The routes: OpenAI's and Anthropic's under `/v1`, Google's under `/v1beta`, the tests' under `/control`, pages everywhere else.

use std::sync::Arc;

use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Path, State as Extract},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::{Value, json};

use crate::{
    images::{self, ImageForm},
    models::{BUILT_IN_MODELS, built_in_script},
    pages::{self, PlacedPage},
    play,
    protocol::Protocol,
    state::{CapturedRequest, ModelListing, ScriptRule, UpstreamState},
};

pub fn router(state: Arc<UpstreamState>) -> Router {
    Router::new()
        .route("/v1/models", get(get_models))
        .route("/v1/chat/completions", post(post_chat))
        .route("/v1/images/generations", post(post_image))
        .route("/v1/images/edits", post(post_image_edit))
        .route("/v1/responses", post(post_responses))
        .route("/v1/messages", post(post_messages))
        .route("/v1beta/models", get(get_gemini_models))
        .route("/v1beta/models/{*target}", post(post_content))
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
    // Anthropic's list has the same URL as OpenAI's.
    let protocol = match headers.contains_key("anthropic-version") {
        true => Protocol::Messages,
        false => Protocol::ChatCompletions,
    };
    list_models(state, protocol, &uri, &headers)
}

async fn get_gemini_models(
    Extract(state): Extract<Arc<UpstreamState>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    list_models(state, Protocol::GenerateContent, &uri, &headers)
}

fn list_models(state: Arc<UpstreamState>, protocol: Protocol, uri: &Uri, headers: &HeaderMap) -> Response {
    capture(&state, &Method::GET, uri, headers, Value::Null);
    if let Some(refusal) = check_key(&state, protocol, headers) {
        return refusal;
    }
    if let Some(ModelListing {
        status,
        body,
        headers,
    }) = state.next_listing()
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
    Json(protocol.list_body(names.collect())).into_response()
}

async fn post_chat(
    Extract(state): Extract<Arc<UpstreamState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    call(state, Protocol::ChatCompletions, None, &uri, &headers, &body).await
}

async fn post_responses(
    Extract(state): Extract<Arc<UpstreamState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    call(state, Protocol::Responses, None, &uri, &headers, &body).await
}

async fn post_messages(
    Extract(state): Extract<Arc<UpstreamState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    call(state, Protocol::Messages, None, &uri, &headers, &body).await
}

async fn post_content(
    Extract(state): Extract<Arc<UpstreamState>>,
    Path(target): Path<String>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if let Some(model) = target.strip_suffix(":generateContent") {
        let request = serde_json::from_slice(&body).unwrap_or_default();
        return call_image(state, ImageForm::GenerateContent, model, &uri, &headers, request).await;
    }
    match target.strip_suffix(":streamGenerateContent") {
        Some(model) => {
            call(
                state,
                Protocol::GenerateContent,
                Some(model),
                &uri,
                &headers,
                &body,
            )
            .await
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn post_image(
    Extract(state): Extract<Arc<UpstreamState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let model = request["model"].as_str().unwrap_or_default().to_owned();
    call_image(state, ImageForm::Images, &model, &uri, &headers, request).await
}

async fn post_image_edit(
    Extract(state): Extract<Arc<UpstreamState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let request = images::read_form(&headers, &body);
    let model = request["model"].as_str().unwrap_or_default().to_owned();
    call_image(state, ImageForm::Images, &model, &uri, &headers, request).await
}

async fn call_image(
    state: Arc<UpstreamState>,
    form: ImageForm,
    model: &str,
    uri: &Uri,
    headers: &HeaderMap,
    request: Value,
) -> Response {
    let protocol = match form {
        ImageForm::GenerateContent => Protocol::GenerateContent,
        ImageForm::Images | ImageForm::Chat => Protocol::ChatCompletions,
    };
    capture(&state, &Method::POST, uri, headers, request.clone());
    if let Some(refusal) = check_key(&state, protocol, headers) {
        return refusal;
    }
    images::respond(state, form, model, &request).await
}

/// Plays the script for a request.
async fn call(
    state: Arc<UpstreamState>,
    protocol: Protocol,
    model: Option<&str>,
    uri: &Uri,
    headers: &HeaderMap,
    body: &[u8],
) -> Response {
    let request: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    let asked = protocol.summarize(&request, model);
    let is_streamed = match protocol {
        Protocol::GenerateContent => uri.query().unwrap_or_default().contains("alt=sse"),
        _ => request["stream"] == json!(true),
    };
    let wants_image = request["modalities"]
        .as_array()
        .is_some_and(|list| list.contains(&json!("image")));
    if wants_image && !is_streamed {
        return call_image(state, ImageForm::Chat, &asked.model, uri, headers, request).await;
    }
    capture(&state, &Method::POST, uri, headers, request);
    if let Some(refusal) = check_key(&state, protocol, headers) {
        return refusal;
    }
    if !is_streamed {
        return error_response(
            protocol,
            StatusCode::BAD_REQUEST,
            "Only streamed answers here.",
            "invalid_request_error",
        );
    }
    match state
        .script_for(&asked)
        .or_else(|| built_in_script(&asked.model, &asked.user))
    {
        Some(script) => play::respond(state, protocol, &asked.model, script).await,
        None => error_response(
            protocol,
            StatusCode::NOT_FOUND,
            &format!("The model `{}` does not exist.", asked.model),
            "model_not_found",
        ),
    }
}

/// Returns a message without the metadata comment at its beginning.
pub fn without_metadata(text: &str) -> &str {
    let block = text.strip_prefix("<!-- METADATA: ");
    block
        .and_then(|block| block.split_once(" -->\n"))
        .map_or(text, |(_, said)| said)
}

fn check_key(state: &UpstreamState, protocol: Protocol, headers: &HeaderMap) -> Option<Response> {
    let key = state.required_key()?;
    (protocol.key(headers) != Some(key.as_str())).then(|| {
        error_response(
            protocol,
            StatusCode::UNAUTHORIZED,
            "Incorrect API key provided.",
            "invalid_api_key",
        )
    })
}

fn error_response(protocol: Protocol, status: StatusCode, message: &str, code: &str) -> Response {
    (status, Json(protocol.error_body(message, code))).into_response()
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
    state.set_listings(listing);
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
