//! The adapter for OpenAI-compatible endpoints, over HTTP against the scripted server.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may panic"
)]

mod errors;
mod requests;
mod responses;

use std::time::Duration;

use futures::StreamExt;
use parlor_model::{
    Endpoint, FinishReason, ModelError,
    ModelErrorKind::{self, Refused, StreamBroken, Unavailable},
    ModelEvent, ModelMessage, ModelRequest, ReportedUsage, ToolSpec, ToolUse,
};
use parlor_providers::{EndpointConfig, openai::OpenAi};
use serde_json::json;
use upstream::{Script, ThinkingFormat, Upstream, When};

fn config(upstream: &Upstream) -> EndpointConfig {
    EndpointConfig {
        base_url_source: "ACME_BASE_URL".into(),
        api_key_source: "ACME_API_KEY".into(),
        ..EndpointConfig::new("acme", upstream.url())
    }
}

fn request(model: &str, text: &str) -> ModelRequest {
    ModelRequest::new(model, vec![ModelMessage::User(text.into())])
}

/// Returns the whole result of a call: the events, with adjacent deltas joined, and the error at its end.
async fn collect_response(
    config: &EndpointConfig,
    request: ModelRequest,
) -> (Vec<ModelEvent>, Option<ModelError>) {
    let endpoint = OpenAi::new(config).unwrap();
    let mut stream = match endpoint.call(&request.model, &request).await {
        Ok(stream) => stream,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let (mut events, mut error) = (Vec::new(), None);
    while let Some(event) = stream.next().await {
        assert_eq!(error, None, "nothing comes after an error");
        match (events.last_mut(), event) {
            (Some(ModelEvent::Text(text)), Ok(ModelEvent::Text(more))) => text.push_str(&more),
            (Some(ModelEvent::Thinking(text)), Ok(ModelEvent::Thinking(more))) => text.push_str(&more),
            (_, Ok(event)) => events.push(event),
            (_, Err(failure)) => error = Some(failure),
        }
    }
    (events, error)
}

/// Returns the events for the scripted server's answer.
async fn run_script(script: Script) -> (Vec<ModelEvent>, Option<ModelError>) {
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), script);
    collect_response(&config(&upstream), request("any", "Hello")).await
}

fn text_event(text: &str) -> ModelEvent {
    ModelEvent::Text(text.into())
}

fn thinking_event(text: &str) -> ModelEvent {
    ModelEvent::Thinking(text.into())
}

fn usage_event(output_tokens: u64) -> ModelEvent {
    ModelEvent::Usage(ReportedUsage {
        input_tokens: 10,
        output_tokens,
        ..ReportedUsage::default()
    })
}

const STOP_EVENT: ModelEvent = ModelEvent::Finished(FinishReason::Stop);

fn error_parts(error: Option<ModelError>) -> (String, ModelErrorKind, String, String) {
    let error = error.expect("an error");
    (
        error.error.code,
        error.kind,
        error.error.message,
        error.error.hint,
    )
}
