//! The native adapters, over HTTP against scripted servers: their lists, their documented errors, and what they
//! learn from rejections.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may panic"
)]

mod errors;
mod lists;
mod live_tests;
mod rejections;
mod roles;

use std::sync::Arc;

use futures::StreamExt;
use parlor_base::settings::EndpointKind::{self, Anthropic, Gemini, OpenAi, OpenAiResponses};
use parlor_model::{
    Endpoint, ListedModels, ModelError,
    ModelErrorKind::{self, Refused, Unavailable},
    ModelEvent, ModelMessage, ModelRequest, ToolSpec, ToolUse,
};
use parlor_protocol::{ParameterInput, Parameters, ProviderData, RawJson};
use parlor_providers::{EndpointConfig, create_endpoint};
use serde_json::{Value, json};
use upstream::{Page, Protocol, Script, Upstream, When};

const NATIVE_KINDS: [EndpointKind; 3] = [OpenAiResponses, Anthropic, Gemini];

const LATER: ModelErrorKind = Unavailable { after: None };

fn protocol(kind: EndpointKind) -> Protocol {
    match kind {
        OpenAi => Protocol::ChatCompletions,
        OpenAiResponses => Protocol::Responses,
        Anthropic => Protocol::Messages,
        Gemini => Protocol::GenerateContent,
    }
}

fn config(kind: EndpointKind, upstream: &Upstream) -> EndpointConfig {
    EndpointConfig {
        kind,
        api_key: Some("key-0123456789".into()),
        base_url_source: "ACME_BASE_URL".into(),
        api_key_source: "ACME_API_KEY".into(),
        ..EndpointConfig::new("acme", upstream.url_for(protocol(kind)))
    }
}

fn endpoint(kind: EndpointKind, upstream: &Upstream) -> Arc<dyn Endpoint> {
    create_endpoint(&config(kind, upstream)).unwrap()
}

/// Returns a question with all parameters, a system prompt and a tool.
fn full_request(model: &str) -> ModelRequest {
    let input = ParameterInput {
        temperature: "0.5".into(),
        thinking_level: "medium".into(),
        thinking_budget: String::new(),
        max_completion_tokens: String::new(),
    };
    let look = ToolSpec {
        name: "look".into(),
        description: "Looks.".into(),
        input_schema: json!({ "type": "object" }),
    };
    ModelRequest {
        tools: vec![look.into()],
        parameters: Parameters::parse(&input).unwrap(),
        ..ModelRequest::new(
            model,
            vec![
                ModelMessage::System("Be brief.".into()),
                ModelMessage::User("Hi".into()),
            ],
        )
    }
}

/// Returns the text of an answer, or its error.
async fn answer(endpoint: &dyn Endpoint, request: &ModelRequest) -> Result<String, ModelError> {
    let mut stream = endpoint.call(&request.model, request).await?;
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        if let ModelEvent::Text(delta) = event? {
            text.push_str(&delta);
        }
    }
    Ok(text)
}

fn calls(upstream: &Upstream) -> Vec<Value> {
    let requests = upstream.requests().into_iter();
    requests
        .filter(|request| request.method == "POST")
        .map(|request| request.body)
        .collect()
}

#[tokio::test]
async fn sends_key_and_headers_without_printing_them() {
    for (kind, header, path) in [
        (OpenAiResponses, "authorization", "/v1/responses"),
        (Anthropic, "x-api-key", "/v1/messages"),
        (
            Gemini,
            "x-goog-api-key",
            "/v1beta/models/echo:streamGenerateContent",
        ),
    ] {
        let upstream = Upstream::start().await;
        upstream.require_key("key-0123456789");
        let mut config = config(kind, &upstream);
        config.headers = vec![("x-title".into(), "hush-hush-hush".into())];
        config.base_url.push_str("?code=very-secret");
        let endpoint = create_endpoint(&config).unwrap();
        let text = answer(&*endpoint, &ModelRequest::new("echo", full_request("").messages)).await;
        assert_eq!(text.unwrap(), "Hi", "{kind:?}");
        let sent = upstream.requests().pop().unwrap();
        assert_eq!(sent.path, path);
        assert!(sent.headers[header].ends_with("key-0123456789"), "{sent:?}");
        assert_eq!(sent.headers["x-title"], "hush-hush-hush");
        assert!(sent.query.starts_with("code=very-secret"), "{sent:?}");
        let refusal =
            json!({ "error": { "message": "no key-0123456789, no hush-hush-hush, no very-secret" } });
        upstream.add_script(When::any(), Script::new().status(400, refusal, &[]));
        let error = answer(&*endpoint, &ModelRequest::new("x", full_request("").messages))
            .await
            .unwrap_err();
        let printed = format!("{endpoint:?} {config:?} {error:?}");
        for secret in ["0123456789", "hush", "very-secret"] {
            assert!(!printed.contains(secret), "{printed}");
        }
    }
}
