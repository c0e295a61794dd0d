//! The adapter for OpenAI-compatible endpoints, over HTTP against the scripted server.

use std::time::Duration;

use futures::StreamExt;
use parlor::providers::{
    Endpoint, EndpointConfig, FinishReason, ModelError,
    ModelErrorKind::{self, Broken, Refused, Unavailable},
    ModelEvent, ModelMessage, ModelRequest, Usage,
    openai::OpenAi,
};
use serde_json::json;
use upstream::{Script, Spelling, Upstream, When};

fn config(upstream: &Upstream) -> EndpointConfig {
    EndpointConfig {
        base_url_source: "ACME_BASE_URL".into(),
        api_key_source: "ACME_API_KEY".into(),
        ..EndpointConfig::new("acme", upstream.url())
    }
}

fn request(model: &str, text: &str) -> ModelRequest {
    ModelRequest {
        model: model.into(),
        messages: vec![ModelMessage::User(text.into())],
    }
}

/// All that a call gives: the events, with adjacent deltas as one, and the error that it ends with.
async fn ask(config: &EndpointConfig, request: ModelRequest) -> (Vec<ModelEvent>, Option<ModelError>) {
    let endpoint = OpenAi::new(config).unwrap();
    let mut stream = match endpoint.call(request).await {
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

/// What the scripted server's answer turns into.
async fn play(script: Script) -> (Vec<ModelEvent>, Option<ModelError>) {
    let upstream = Upstream::start().await;
    upstream.script(When::any(), script);
    ask(&config(&upstream), request("any", "Hello")).await
}

fn text(text: &str) -> ModelEvent {
    ModelEvent::Text(text.into())
}

fn thinking(text: &str) -> ModelEvent {
    ModelEvent::Thinking(text.into())
}

fn usage(output_tokens: u64) -> ModelEvent {
    ModelEvent::Usage(Usage {
        input_tokens: 10,
        output_tokens,
    })
}

const STOP: ModelEvent = ModelEvent::Finished(FinishReason::Stop);

fn told(error: Option<ModelError>) -> (String, ModelErrorKind, String, String) {
    let error = error.expect("an error");
    (
        error.error.code,
        error.kind,
        error.error.message,
        error.error.hint,
    )
}

#[tokio::test]
async fn thinking_is_thinking_in_every_spelling() {
    for spelling in [
        Spelling::ReasoningContent,
        Spelling::Reasoning,
        Spelling::Parts,
        Spelling::Tags,
    ] {
        let script = Script::new()
            .spelled(spelling)
            .think("Let me ")
            .think("see.")
            .text("Hello ")
            .text("there");
        let expected = vec![thinking("Let me see."), text("Hello there"), usage(4), STOP];
        assert_eq!(play(script).await, (expected, None), "{spelling:?}");
    }
}

#[tokio::test]
async fn a_tool_call_comes_with_its_arguments() {
    let script = Script::new()
        .text("One moment.")
        .tool_call("c1", "now", "{}")
        .finish("tool_calls");
    let expected = vec![
        text("One moment."),
        ModelEvent::ToolCall {
            index: 0,
            id: "c1".into(),
            name: "now".into(),
        },
        ModelEvent::ToolArguments {
            index: 0,
            delta: "{}".into(),
        },
        usage(2),
        ModelEvent::Finished(FinishReason::ToolCalls),
    ];
    assert_eq!(play(script).await, (expected, None));
}

#[tokio::test]
async fn the_server_is_sent_the_conversation_the_key_and_the_headers() {
    let upstream = Upstream::start().await;
    upstream.require_key("sk-1");
    let config = EndpointConfig {
        api_key: Some("sk-1".into()),
        headers: vec![("X-Title".into(), "Parlor".into())],
        ..config(&upstream)
    };
    let request = ModelRequest {
        model: "echo".into(),
        messages: vec![
            ModelMessage::System("Be brief.".into()),
            ModelMessage::User("Hi".into()),
            ModelMessage::Assistant("Hello".into()),
            ModelMessage::User("And?".into()),
        ],
    };
    assert_eq!(
        ask(&config, request).await,
        (vec![text("And?"), usage(1), STOP], None)
    );
    let sent = upstream.requests().pop().unwrap();
    assert_eq!(sent.headers["authorization"], "Bearer sk-1");
    assert_eq!(sent.headers["x-title"], "Parlor");
    assert_eq!(
        sent.body,
        json!({
            "model": "echo", "stream": true, "stream_options": {"include_usage": true},
            "messages": [
                {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "And?"},
            ],
        })
    );
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    let upstream = Upstream::start().await;
    let endpoint = OpenAi::new(&config(&upstream)).unwrap();
    endpoint.models().await.unwrap();
    ask(&config(&upstream), request("echo", "Hi")).await;
    for sent in upstream.requests() {
        assert_eq!(sent.headers.get("authorization"), None, "{}", sent.path);
    }
}

#[tokio::test]
async fn a_server_that_does_not_know_stream_options_is_asked_without() {
    let upstream = Upstream::start().await;
    let refusal =
        json!({"message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"]}]}});
    upstream.script_times(1, When::any(), Script::new().status(422, refusal, &[]));
    let (events, error) = ask(&config(&upstream), request("echo", "Hi")).await;
    assert_eq!((events, error), (vec![text("Hi"), usage(1), STOP], None));
    assert_eq!(upstream.requests()[1].body.get("stream_options"), None);
}

#[tokio::test]
async fn every_refusal_names_the_endpoint_the_cause_and_what_to_do() {
    let upstream = Upstream::start().await;
    let acme = format!("The endpoint “acme” ({})", upstream.url());
    let later = |seconds| Unavailable {
        after: Some(Duration::from_secs(seconds)),
    };
    let key_hint = "Set ACME_API_KEY to a valid key and restart Parlor.";
    let picker_hint = "Choose another model in the picker at the composer.";
    let log_hint = "Retry; if it stays so, see that server's own log.";
    for (script, code, kind, what, hint) in [
        (
            Script::new().status(401, json!({"error": {"message": "Who?"}}), &[]),
            "key_missing",
            Refused,
            "wants an API key, and none is set (401): Who?",
            key_hint,
        ),
        (
            Script::new().status(
                404,
                json!({"error": {"message": "?", "code": "model_not_found"}}),
                &[],
            ),
            "model_unknown",
            Refused,
            "does not know the model “m/1”: ?",
            picker_hint,
        ),
        (
            Script::new().status(
                429,
                json!({"error": {"message": "Slow"}}),
                &[("retry-after", "7")],
            ),
            "rate_limited",
            later(7),
            "takes no more requests for now (429): Slow. It asks to wait 7 s.",
            "Wait a little, then retry.",
        ),
        (
            Script::new().status(500, "boom", &[]),
            "endpoint_failed",
            Unavailable { after: None },
            "failed (500 Internal Server Error): boom.",
            log_hint,
        ),
        (
            Script::new().status(503, "<html>busy</html>", &[("retry-after", "2")]),
            "endpoint_failed",
            later(2),
            "failed (503 Service Unavailable).",
            log_hint,
        ),
        (
            Script::new().status(400, json!({"error": "No \u{1b}[1mway\n"}), &[]),
            "request_refused",
            Refused,
            "refused the request (400 Bad Request): No [1mway.",
            "",
        ),
        (
            Script::new().status(301, "", &[("location", "https://elsewhere.example/v1?k=1")]),
            "request_refused",
            Refused,
            "is somewhere else: it redirects to https://elsewhere.example/v1, which Parlor does not follow.",
            "Check ACME_BASE_URL; it usually ends with /v1.",
        ),
        (
            Script::new()
                .content_type("application/json")
                .raw("{\"error\": {\"message\": \"No.\"}}")
                .end(),
            "stream_error",
            Refused,
            "reported an error in its answer: No.",
            "",
        ),
        (
            Script::new()
                .content_type("text/html; charset=utf-8")
                .raw("<html>")
                .end(),
            "bad_answer",
            Refused,
            "answered with text/html instead of a stream of events.",
            "Is ACME_BASE_URL the address of an OpenAI-compatible API? It usually ends with /v1.",
        ),
        (
            Script::new().content_type("text/plain").raw("Hello\n\n").end(),
            "bad_answer",
            Refused,
            "gave an answer that is not a stream of events.",
            "Is ACME_BASE_URL the address of an OpenAI-compatible API? It usually ends with /v1.",
        ),
    ] {
        upstream.reset();
        upstream.script(When::any(), script);
        let (events, error) = ask(&config(&upstream), request("m/1", "Hello")).await;
        assert_eq!(events, []);
        let expected = (code.into(), kind, format!("{acme} {what}"), hint.to_owned());
        assert_eq!(told(error), expected);
    }
}

#[tokio::test]
async fn a_wrong_key_is_not_shown_even_if_the_server_repeats_it() {
    let upstream = Upstream::start().await;
    let refusal = json!({"error": {"message": "sk-wrong is not a key"}});
    upstream.script(When::any(), Script::new().status(401, refusal, &[]));
    let config = EndpointConfig {
        api_key: Some("sk-wrong".into()),
        ..config(&upstream)
    };
    let (code, _, message, _) = told(ask(&config, request("echo", "Hi")).await.1);
    assert_eq!(code, "key_refused");
    let acme = format!("The endpoint “acme” ({})", upstream.url());
    assert_eq!(
        message,
        format!("{acme} refused the API key (401): ••• is not a key.")
    );
}

#[tokio::test]
async fn what_is_secret_is_not_printed_and_user_info_in_the_address_is_sent() {
    let upstream = Upstream::start().await;
    let config = EndpointConfig {
        base_url: upstream.url().replace("//", "//someone:hidden@"),
        headers: vec![("x-key".into(), "secret-1".into())],
        ..config(&upstream)
    };
    assert_eq!(ask(&config, request("echo", "Hi")).await.1, None);
    let sent = upstream.requests().pop().unwrap();
    assert!(sent.headers["authorization"].starts_with("Basic "), "{sent:?}");
    let with_key = EndpointConfig {
        api_key: Some("sk-2".into()),
        ..config
    };
    let printed = format!("{with_key:?} {:?}", OpenAi::new(&with_key).unwrap());
    assert!(printed.contains("http://127.0.0.1:"), "{printed}");
    for secret in ["hidden", "secret-1", "sk-2"] {
        assert!(!printed.contains(secret), "{printed}");
    }
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_says_why() {
    let dead = Upstream::start().await;
    let url = dead.url();
    dead.stop().await;
    let upstream = Upstream::start().await;
    for (base_url, cause) in [
        (url.clone(), "nothing answers there (connection refused)"),
        (upstream.url().replace("http:", "https:"), "it does not speak TLS"),
        ("http://no-such-host.invalid/v1".into(), "cannot be reached: "),
    ] {
        let config = EndpointConfig {
            base_url: base_url.clone(),
            ..config(&upstream)
        };
        for error in [
            ask(&config, request("echo", "Hi")).await.1.unwrap(),
            OpenAi::new(&config).unwrap().models().await.unwrap_err(),
        ] {
            assert_eq!(error.error.code, "endpoint_unreachable", "{error}");
            assert_eq!(error.kind, Unavailable { after: None });
            assert!(
                error.error.message.contains(&base_url) && error.error.message.contains(cause),
                "{error}"
            );
            assert_eq!(
                error.error.hint,
                "Is it running? Its address is set in ACME_BASE_URL."
            );
        }
    }
}

#[tokio::test]
async fn an_answer_that_does_not_end_well_keeps_what_it_said() {
    let hi = "data: {\"choices\": [{\"delta\": {\"content\": \"Hi\"}}]}\n\n";
    let busy = json!({"message": "overloaded", "code": 529});
    for (script, code, kind) in [
        (Script::new().text("Hi").cut(), "broke_off", Broken),
        (Script::new().text("Hi").end(), "broke_off", Broken),
        (
            Script::new()
                .text("Hi")
                .error_object(json!({"message": "out of memory"}))
                .end(),
            "stream_error",
            Refused,
        ),
        (
            Script::new().text("Hi").error_object(busy).end(),
            "stream_error",
            Unavailable { after: None },
        ),
        (
            Script::new().raw(hi).raw("data: {\"choices\": [{\n\n").end(),
            "bad_answer",
            Broken,
        ),
        (
            Script::new().raw(hi).raw_bytes(*b"data: \xff\xfe\n\n").end(),
            "bad_answer",
            Broken,
        ),
        (
            Script::new()
                .raw(hi)
                .raw(format!("data: {}", "x".repeat(2 << 20)))
                .end(),
            "bad_answer",
            Broken,
        ),
    ] {
        let (events, error) = play(script.clone()).await;
        assert_eq!(events, [text("Hi")], "{script:?}");
        let (got, got_kind, message, _) = told(error);
        assert_eq!((got.as_str(), got_kind), (code, kind), "{message}");
    }
}

#[tokio::test]
async fn bytes_that_are_no_utf8_inside_a_string_are_replaced() {
    let script = Script::new()
        .raw_bytes(*b"data: {\"choices\": [{\"delta\": {\"content\": \"a\xffb\"}}]}\n\n")
        .finish("stop");
    assert_eq!(
        play(script).await,
        (vec![text("a\u{fffd}b"), usage(1), STOP], None)
    );
}

#[tokio::test]
async fn done_without_a_reason_is_a_clean_end() {
    assert_eq!(
        play(Script::new().text("Hi").done()).await,
        (vec![text("Hi"), STOP], None)
    );
}

#[tokio::test]
async fn an_answer_is_whole_with_its_reason_even_if_the_rest_is_cut() {
    let finish =
        "data: {\"choices\": [{\"delta\": {\"content\": \"Hi\"}, \"finish_reason\": \"length\"}]}\n\n";
    let expected = vec![text("Hi"), ModelEvent::Finished(FinishReason::Length)];
    for script in [
        Script::new().raw(finish).cut(),
        Script::new().raw(finish).end(),
        Script::new().raw(finish).hang(),
    ] {
        assert_eq!(play(script).await, (expected.clone(), None));
    }
}

#[tokio::test]
async fn an_event_is_there_as_soon_as_the_server_has_sent_it_and_dropping_ends_the_call() {
    let upstream = Upstream::start().await;
    upstream.script(
        When::any(),
        Script::new().text("Hello").gate("more").text(" there").hang(),
    );
    let endpoint = OpenAi::new(&config(&upstream)).unwrap();
    let mut stream = endpoint.call(request("any", "Hi")).await.unwrap();
    assert_eq!(stream.next().await, Some(Ok(text("Hello"))));
    upstream.reached("more").await;
    upstream.release("more");
    assert_eq!(stream.next().await, Some(Ok(text(" there"))));
    assert_eq!(upstream.open_streams(), 1);
    drop(stream);
    tokio::time::timeout(Duration::from_secs(10), upstream.all_closed())
        .await
        .unwrap();
}

#[tokio::test]
async fn many_tokens_come_in_order_and_none_is_missing() {
    let (events, error) = play(Script::new().tokens(5000, 0.0)).await;
    assert_eq!(error, None);
    let [ModelEvent::Text(text), ..] = events.as_slice() else {
        panic!("{events:?}")
    };
    let numbers: Vec<u64> = text
        .split_whitespace()
        .map(|token| token.split('@').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(numbers, (0..5000).collect::<Vec<u64>>());
}
