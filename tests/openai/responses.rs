//! The formats of answers and of their ends.

use super::*;

#[tokio::test]
async fn recognizes_thinking_in_every_format() {
    for spelling in [
        ThinkingFormat::ReasoningContent,
        ThinkingFormat::Reasoning,
        ThinkingFormat::Parts,
        ThinkingFormat::Tags,
    ] {
        let script = Script::new()
            .with_thinking_format(spelling)
            .think("Let me ")
            .think("see.")
            .text("Hello ")
            .text("there");
        let expected = vec![
            thinking_event("Let me see."),
            text_event("Hello there"),
            usage_event(4),
            STOP_EVENT,
        ];
        assert_eq!(run_script(script).await, (expected, None), "{spelling:?}");
    }
}

#[tokio::test]
async fn tool_call_has_its_arguments() {
    let script = Script::new()
        .text("One moment.")
        .tool_call("c1", "now", "{}")
        .finish("tool_calls");
    let expected = vec![
        text_event("One moment."),
        ModelEvent::ToolCall {
            index: 0,
            id: "c1".into(),
            name: "now".into(),
        },
        ModelEvent::ToolArguments {
            index: 0,
            delta: "{}".into(),
        },
        usage_event(2),
        ModelEvent::Finished(FinishReason::ToolCalls),
    ];
    assert_eq!(run_script(script).await, (expected, None));
}

#[tokio::test]
async fn failed_answer_keeps_its_text() {
    let hi = "data: {\"choices\": [{\"delta\": {\"content\": \"Hi\"}}]}\n\n";
    let busy = json!({"message": "overloaded", "code": 529});
    for (script, code, kind) in [
        (Script::new().text("Hi").cut(), "broke_off", StreamBroken),
        (Script::new().text("Hi").end(), "broke_off", StreamBroken),
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
            StreamBroken,
        ),
        (
            Script::new().raw(hi).raw_bytes(*b"data: \xff\xfe\n\n").end(),
            "bad_answer",
            StreamBroken,
        ),
        (
            Script::new()
                .raw(hi)
                .raw(format!("data: {}", "x".repeat(2 << 20)))
                .end(),
            "bad_answer",
            StreamBroken,
        ),
    ] {
        let (events, error) = run_script(script.clone()).await;
        assert_eq!(events, [text_event("Hi")], "{script:?}");
        let (got, got_kind, message, _) = error_parts(error);
        assert_eq!((got.as_str(), got_kind), (code, kind), "{message}");
    }
}

#[tokio::test]
async fn replaces_invalid_utf8() {
    let script = Script::new()
        .raw_bytes(*b"data: {\"choices\": [{\"delta\": {\"content\": \"a\xffb\"}}]}\n\n")
        .finish("stop");
    assert_eq!(
        run_script(script).await,
        (vec![text_event("a\u{fffd}b"), usage_event(1), STOP_EVENT], None)
    );
}

#[tokio::test]
async fn done_without_finish_reason_is_clean() {
    assert_eq!(
        run_script(Script::new().text("Hi").done()).await,
        (vec![text_event("Hi"), STOP_EVENT], None)
    );
}

#[tokio::test]
async fn answer_is_complete_once_it_has_a_reason() {
    let finish =
        "data: {\"choices\": [{\"delta\": {\"content\": \"Hi\"}, \"finish_reason\": \"length\"}]}\n\n";
    let expected = vec![text_event("Hi"), ModelEvent::Finished(FinishReason::Length)];
    for script in [
        Script::new().raw(finish).cut(),
        Script::new().raw(finish).end(),
        Script::new().raw(finish).hang(),
    ] {
        assert_eq!(run_script(script).await, (expected.clone(), None));
    }
}

#[tokio::test]
async fn events_arrive_immediately_and_dropping_cancels() {
    let upstream = Upstream::start().await;
    upstream.add_script(
        When::any(),
        Script::new().text("Hello").gate("more").text(" there").hang(),
    );
    let endpoint = OpenAi::new(&config(&upstream)).unwrap();
    let mut stream = endpoint.call("any", &request("any", "Hi")).await.unwrap();
    assert_eq!(stream.next().await, Some(Ok(text_event("Hello"))));
    upstream.wait_for_gate("more").await;
    upstream.open_gate("more");
    assert_eq!(stream.next().await, Some(Ok(text_event(" there"))));
    assert_eq!(upstream.open_streams(), 1);
    drop(stream);
    tokio::time::timeout(Duration::from_secs(10), upstream.wait_until_closed())
        .await
        .unwrap();
}

#[tokio::test]
async fn tokens_arrive_complete_and_in_order() {
    let (events, error) = run_script(Script::new().tokens(5000, 0.0)).await;
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

#[tokio::test]
async fn reads_unstreamed_answers() {
    let answer = json!({
        "choices": [{"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": "Hello"}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 1},
    });
    for media_type in ["application/json; charset=utf-8", "text/event-stream"] {
        let script = Script::new()
            .content_type(media_type)
            .raw(answer.to_string())
            .end();
        let expected = vec![
            text_event("Hello"),
            usage_event(1),
            ModelEvent::Finished(FinishReason::Length),
        ];
        assert_eq!(run_script(script).await, (expected, None), "{media_type}");
    }
}

#[tokio::test]
async fn names_a_foreign_protocol() {
    let first = "event: message-start\ndata: {\"type\":\"message-start\",\"delta\":{}}\n\n";
    let (events, error) = run_script(Script::new().raw(first).hang()).await;
    assert_eq!(events, []);
    let (code, kind, message, hint) = error_parts(error);
    assert_eq!((code.as_str(), kind), ("other_protocol", Refused));
    assert!(message.contains("another protocol (Cohere's own)"), "{message}");
    assert!(
        hint.contains("compatibility/v1") && hint.contains("ACME_BASE_URL"),
        "{hint}"
    );
}

#[tokio::test]
async fn empty_failures_are_retryable() {
    for (script, code) in [
        (Script::new().raw("").end(), "endpoint_failed"),
        (Script::new().raw("").cut(), "broke_off"),
        (Script::new().raw(": wait\n\n").end(), "endpoint_failed"),
        (Script::new().end(), "broke_off"),
    ] {
        let (_, error) = run_script(script.clone()).await;
        let (got, kind, message, hint) = error_parts(error);
        assert_eq!(
            (got.as_str(), kind),
            (code, Unavailable { after: None }),
            "{script:?} {message}"
        );
        assert!(!hint.contains("kept"), "nothing had come: {hint}");
    }
}

#[tokio::test]
async fn malformed_stream_error_omits_url_advice() {
    let hi = "data: {\"choices\": [{\"delta\": {\"content\": \"Hi\"}}]}\n\n";
    for tail in [
        "data: {\"choices\": [{\n\n".to_owned(),
        format!("data: {}", "x".repeat(2 << 20)),
    ] {
        for head in ["", hi] {
            let (_, error) = run_script(Script::new().raw(head).raw(tail.clone()).end()).await;
            let (code, _, _, hint) = error_parts(error);
            assert_eq!(code, "bad_answer");
            assert!(!hint.contains("ACME_BASE_URL"), "{hint}");
            assert_eq!(hint.contains("kept"), !head.is_empty(), "{hint}");
        }
    }
}
