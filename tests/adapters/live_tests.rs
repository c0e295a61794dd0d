//! The test of a model server before it is added: each reason has its words, and the cause stands apart.

use parlor_protocol::{EndpointProblemCode as Code, EndpointTestResult};
use parlor_providers::test_endpoint;

use super::*;

/// Returns the finding of a test, without its details.
fn problem(tested: &EndpointTestResult) -> (Code, &str) {
    let problem = tested.problem.as_ref().expect("a problem");
    (problem.code, &problem.message)
}

#[tokio::test]
async fn lists_models_of_every_kind() {
    for kind in [OpenAi, OpenAiResponses, Anthropic, Gemini] {
        let upstream = Upstream::start().await;
        let list = match kind {
            Gemini => json!({ "models": [{ "name": "models/a" }] }),
            _ => json!({ "data": [{ "id": "a" }] }),
        };
        upstream.list_models(200, list);
        let tested = test_endpoint(&config(kind, &upstream)).await;
        let names: Vec<_> = tested.models.iter().map(|model| &*model.name).collect();
        assert_eq!((names, tested.problem), (vec!["a"], None), "{kind:?}");
    }
    let upstream = Upstream::start().await;
    upstream.list_models(
        200,
        json!({ "data": [{ "id": "text-embedding-3" }, { "id": "a" }] }),
    );
    let tested = test_endpoint(&config(OpenAi, &upstream)).await;
    let chat: Vec<_> = tested
        .models
        .iter()
        .map(|model| (&*model.name, model.can_chat))
        .collect();
    assert_eq!(chat, [("a", true), ("text-embedding-3", false)]);
}

#[tokio::test]
async fn says_what_an_answer_means() {
    let error = |text: &str| json!({ "error": { "message": text } });
    for (status, body, code, words) in [
        (
            401,
            error("no"),
            Code::InvalidKey,
            "The key is not valid for this address.",
        ),
        (403, error("scope"), Code::ListRefused, "name the models yourself"),
        (
            402,
            error("pay"),
            Code::NoCredit,
            "There is no credit left at this service.",
        ),
        (
            429,
            error("insufficient_quota"),
            Code::NoCredit,
            "There is no credit left",
        ),
        (429, error("slow down"), Code::Busy, "Wait a little"),
        (
            404,
            error("none"),
            Code::OtherServer,
            "not as an OpenAI-compatible server",
        ),
        (302, json!({}), Code::OtherServer, "redirects to another one"),
        (503, error("down"), Code::Other, "fails at present"),
        (
            200,
            json!({ "hello": "world" }),
            Code::OtherServer,
            "not as an OpenAI-compatible server",
        ),
        (200, json!({ "data": [] }), Code::NoModels, "lists no models"),
    ] {
        let upstream = Upstream::start().await;
        upstream.list_models_with(status, body, &[("location", "http://127.0.0.1:9/elsewhere")]);
        let tested = test_endpoint(&config(OpenAi, &upstream)).await;
        let (found, message) = problem(&tested);
        assert_eq!(found, code, "{status}: {message}");
        assert!(message.contains(words), "{status}: {message}");
        assert_eq!(upstream.requests().len(), 1, "no redirect is followed");
        let shown = serde_json::to_string(&tested).unwrap();
        assert!(!shown.contains("key-0123456789"), "{shown}");
    }
    let upstream = Upstream::start().await;
    upstream.require_key("another");
    let without_key = EndpointConfig {
        api_key: None,
        ..config(OpenAi, &upstream)
    };
    assert_eq!(problem(&test_endpoint(&without_key).await).0, Code::KeyNeeded);
}

#[tokio::test]
async fn says_why_nothing_answers() {
    let gone = Upstream::start().await;
    let mut config = config(OpenAi, &gone);
    gone.stop().await;
    let tested = test_endpoint(&config).await;
    let expected = "Nothing answers at this port. Is the server running?";
    assert_eq!(problem(&tested), (Code::NothingAnswers, expected));
    assert!(!tested.problem.unwrap().details.is_empty());

    let plain = Upstream::start().await;
    config.base_url = plain.url().replacen("http://", "https://", 1);
    let tested = test_endpoint(&config).await;
    let (code, message) = problem(&tested);
    assert_eq!(code, Code::OtherServer);
    assert!(message.contains("http:// instead of https://"), "{message}");

    config.base_url = "http://no-such-host.invalid/v1".into();
    assert_eq!(problem(&test_endpoint(&config).await).0, Code::UnknownHost);
}
