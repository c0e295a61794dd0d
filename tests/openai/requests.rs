//! The requests that a model server receives.

use parlor_protocol::ThinkingLevel;

use super::*;

#[tokio::test]
async fn sends_conversation_key_and_headers() {
    let upstream = Upstream::start().await;
    upstream.require_key("sk-1");
    let config = EndpointConfig {
        api_key: Some("sk-1".into()),
        headers: vec![("X-Title".into(), "Parlor".into())],
        ..config(&upstream)
    };
    let messages = vec![
        ModelMessage::System("Be brief.".into()),
        ModelMessage::User("Hi".into()),
        ModelMessage::assistant("Hello"),
        ModelMessage::User("And?".into()),
    ];
    let request = ModelRequest::new("echo", messages);
    assert_eq!(
        collect_response(&config, request).await,
        (vec![text_event("And?"), usage_event(1), STOP_EVENT], None)
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
async fn base_url_query_is_kept() {
    let upstream = Upstream::start().await;
    let config = EndpointConfig {
        base_url: format!("{}/?api-version=2024-10-21&code=very-secret", upstream.url()),
        headers: vec![("api-key".into(), "hush-hush".into())],
        ..config(&upstream)
    };
    let endpoint = OpenAi::new(&config).unwrap();
    endpoint.models().await.unwrap();
    endpoint.context_window("echo").await;
    collect_response(&config, request("echo", "Hi")).await;
    let sent = upstream.requests();
    let paths: Vec<&str> = sent.iter().map(|sent| sent.path.as_str()).collect();
    let expected = [
        "/v1/models",
        "/props",
        "/api/ps",
        "/api/show",
        "/api/v0/models",
        "/v1/chat/completions",
    ];
    assert_eq!(paths, expected);
    for sent in sent {
        assert_eq!(
            sent.query, "api-version=2024-10-21&code=very-secret",
            "{}",
            sent.path
        );
        assert_eq!(sent.headers["api-key"], "hush-hush", "{}", sent.path);
    }
    assert!(!format!("{endpoint:?} {config:?}").contains("secret"));
    assert!(!format!("{endpoint:?} {config:?}").contains("hush"));
    let refusal = json!({"error": {"message": "no code very-secret, no hush-hush in 2024-10-21"}});
    upstream.add_script(When::any(), Script::new().status(400, refusal, &[]));
    let (_, error) = collect_response(&config, request("any", "Hi")).await;
    let message = error.unwrap().error.message;
    assert!(
        message.contains("2024-10-21") && !message.contains("secret") && !message.contains("hush"),
        "{message}"
    );
}

#[tokio::test]
async fn configured_models_are_not_fetched() {
    let upstream = Upstream::start().await;
    let config = EndpointConfig {
        models: vec!["deployment".into()],
        ..config(&upstream)
    };
    let listed = OpenAi::new(&config).unwrap().models().await.unwrap();
    assert_eq!(listed.ids, ["deployment"]);
    assert_eq!(listed.selectable[0].id, "acme/deployment");
    assert!(upstream.requests().is_empty());
}

#[tokio::test]
async fn sends_no_key_without_one() {
    let upstream = Upstream::start().await;
    let endpoint = OpenAi::new(&config(&upstream)).unwrap();
    endpoint.models().await.unwrap();
    collect_response(&config(&upstream), request("echo", "Hi")).await;
    for sent in upstream.requests() {
        assert_eq!(sent.headers.get("authorization"), None, "{}", sent.path);
    }
}

#[tokio::test]
async fn omits_unsupported_stream_options() {
    let upstream = Upstream::start().await;
    let refusal =
        json!({"message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"]}]}});
    upstream.add_script_times(1, When::any(), Script::new().status(422, refusal, &[]));
    let (events, error) = collect_response(&config(&upstream), request("echo", "Hi")).await;
    assert_eq!(
        (events, error),
        (vec![text_event("Hi"), usage_event(1), STOP_EVENT], None)
    );
    assert_eq!(upstream.requests()[1].body.get("stream_options"), None);
}

#[tokio::test]
async fn omits_rejected_modalities() {
    for words in [
        "Unknown parameter: 'modalities'.",
        "No endpoints found that support the requested output modalities: image, text",
    ] {
        let upstream = Upstream::start().await;
        upstream.add_script(When::any(), Script::new().text("Hello"));
        let refusal = json!({"error": {"message": words}});
        upstream.add_script_times(1, When::any(), Script::new().status(400, refusal, &[]));
        let model = "google/gemini-2.5-flash-image";
        let (events, error) = collect_response(&config(&upstream), request(model, "Hi")).await;
        assert_eq!((&events[0], error), (&text_event("Hello"), None));
        let sent = upstream.requests();
        assert_eq!(sent[0].body["modalities"], json!(["image", "text"]));
        assert_eq!(sent[1].body.get("modalities"), None);
    }
}

#[tokio::test]
async fn omits_a_rejected_choice_of_thinking() {
    let upstream = Upstream::start().await;
    let refusal = json!({"error": {"message": "`reasoning_effort` must be one of `none` or `default`"}});
    upstream.add_script_times(1, When::any(), Script::new().status(400, refusal, &[]));
    let mut request = request("echo", "Hi");
    request.parameters.thinking_level = Some(ThinkingLevel::Low);
    let (events, error) = collect_response(&config(&upstream), request).await;
    assert_eq!(
        (events, error),
        (vec![text_event("Hi"), usage_event(1), STOP_EVENT], None)
    );
    let sent = upstream.requests();
    assert_eq!(sent[0].body["reasoning_effort"], "low");
    assert_eq!(sent[1].body.get("reasoning_effort"), None);
}

#[tokio::test]
async fn rejected_choice_of_thinking_leaves_the_others() {
    for (words, efforts) in [
        (
            "Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model.",
            [Some("xhigh"), None, None, Some("low")],
        ),
        (
            "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
            [Some("xhigh"), None, None, None],
        ),
    ] {
        let upstream = Upstream::start().await;
        let refusal = json!({ "error": { "message": words } });
        upstream.add_script_times(1, When::any(), Script::new().status(400, refusal, &[]));
        let endpoint = OpenAi::new(&config(&upstream)).unwrap();
        for level in [ThinkingLevel::XHigh, ThinkingLevel::XHigh, ThinkingLevel::Low] {
            let mut request = request("echo", "Hi");
            request.parameters.thinking_level = Some(level);
            drop(endpoint.call("echo", &request).await.unwrap());
            let sent = upstream.requests().pop().unwrap().body;
            assert_eq!(
                endpoint.preview_request("echo", &request).body,
                *sent.as_object().unwrap()
            );
        }
        let sent = upstream.requests();
        let sent: Vec<_> = sent
            .iter()
            .map(|sent| sent.body["reasoning_effort"].as_str())
            .collect();
        assert_eq!(sent, efforts, "{words}");
    }
}

#[tokio::test]
async fn moves_unsupported_system_prompt_into_the_question() {
    for (status, words) in [
        (400, "System role not supported"),
        (
            500,
            "Error rendering prompt with jinja template: \"Only user and assistant roles are supported!\"",
        ),
        (
            400,
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        ),
        (
            400,
            "Developer instruction is not enabled for models/gemma-3-27b-it",
        ),
    ] {
        let upstream = Upstream::start().await;
        let refusal = json!({ "error": { "message": words } });
        upstream.add_script_times(1, When::any(), Script::new().status(status, refusal, &[]));
        let endpoint = OpenAi::new(&config(&upstream)).unwrap();
        let request = ModelRequest::new(
            "echo",
            vec![
                ModelMessage::System("Be brief.".into()),
                ModelMessage::User("Hi".into()),
            ],
        );
        for _ in 0..2 {
            let mut stream = endpoint.call("echo", &request).await.unwrap();
            assert_eq!(
                stream.next().await.unwrap().unwrap(),
                text_event("Be brief.\n\nHi"),
                "{words}"
            );
        }
        let first = |request: &upstream::CapturedRequest| request.body["messages"][0]["role"].clone();
        let roles: Vec<_> = upstream.requests().iter().map(first).collect();
        assert_eq!(roles, ["system", "user", "user"], "{words}: it is remembered");
        let sent = upstream.requests().pop().unwrap().body;
        assert_eq!(
            endpoint.preview_request("echo", &request).body,
            *sent.as_object().unwrap()
        );
    }
}

#[tokio::test]
async fn describes_tool_results_to_models_without_tools() {
    let upstream = Upstream::start().await;
    let refusal = json!({ "error": { "message": "echo does not support tools" } });
    upstream.add_script_times(1, When::any(), Script::new().status(400, refusal, &[]));
    let messages = vec![
        ModelMessage::User("Hi".into()),
        ModelMessage::Assistant {
            text: String::new(),
            thinking: None,
            tool_calls: vec![ToolUse {
                id: "1".into(),
                name: "look".into(),
                arguments: "{}".into(),
                provider_data: Vec::new(),
            }],
            provider_data: Vec::new(),
        },
        ModelMessage::Tool {
            tool_use_id: "1".into(),
            output: "a cat".into(),
        },
    ];
    // No tool is offered any more, but the conversation contains calls.
    let (events, error) = collect_response(&config(&upstream), ModelRequest::new("echo", messages)).await;
    assert_eq!((&events[0], error), (&text_event("(A tool gave:)\na cat"), None));
    let sent = upstream.requests().pop().unwrap().body;
    assert_eq!(
        sent["messages"],
        json!([
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "(I used the tool look with {}.)"},
            {"role": "user", "content": "(A tool gave:)\na cat"},
        ])
    );
}

#[tokio::test]
async fn omits_unsupported_tools() {
    for (status, words) in [
        (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
        (500, "tools param requires --jinja flag"),
        (
            400,
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        ),
        (404, "No endpoints found that support tool use."),
    ] {
        let upstream = Upstream::start().await;
        let refusal = json!({ "error": { "message": words } });
        upstream.add_script_times(1, When::any(), Script::new().status(status, refusal, &[]));
        let endpoint = OpenAi::new(&config(&upstream)).unwrap();
        for _ in 0..2 {
            let mut request = request("echo", "Hi");
            let look = ToolSpec {
                name: "look".into(),
                description: "Looks.".into(),
                input_schema: json!({ "type": "object" }),
            };
            request.tools.push(look.into());
            let mut stream = endpoint.call("echo", &request).await.unwrap();
            assert_eq!(stream.next().await.unwrap().unwrap(), text_event("Hi"), "{words}");
        }
        let with_tools: Vec<bool> = upstream
            .requests()
            .iter()
            .map(|request| request.body["tools"].is_array())
            .collect();
        assert_eq!(with_tools, [true, false, false], "{words}: it is remembered");
    }
}
