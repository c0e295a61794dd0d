//! How answers come, and how they end.

use super::*;

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
    let mut stream = endpoint.call("any", &request("any", "Hi")).await.unwrap();
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

#[tokio::test]
async fn an_answer_that_is_not_streamed_is_read() {
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
            text("Hello"),
            usage(1),
            ModelEvent::Finished(FinishReason::Length),
        ];
        assert_eq!(play(script).await, (expected, None), "{media_type}");
    }
}

#[tokio::test]
async fn another_protocol_is_called_that() {
    let first = "event: message-start\ndata: {\"type\":\"message-start\",\"delta\":{}}\n\n";
    let (events, error) = play(Script::new().raw(first).hang()).await;
    assert_eq!(events, []);
    let (code, kind, message, hint) = told(error);
    assert_eq!((code.as_str(), kind), ("other_protocol", Refused));
    assert!(message.contains("another protocol (Cohere's own)"), "{message}");
    assert!(
        hint.contains("compatibility/v1") && hint.contains("ACME_BASE_URL"),
        "{hint}"
    );
}

#[tokio::test]
async fn what_ends_before_its_first_word_may_be_tried_again() {
    for (script, code) in [
        (Script::new().raw("").end(), "endpoint_failed"),
        (Script::new().raw("").cut(), "broke_off"),
        (Script::new().raw(": wait\n\n").end(), "endpoint_failed"),
        (Script::new().end(), "broke_off"),
    ] {
        let (_, error) = play(script.clone()).await;
        let (got, kind, message, hint) = told(error);
        assert_eq!(
            (got.as_str(), kind),
            (code, Unavailable { after: None }),
            "{script:?} {message}"
        );
        assert!(!hint.contains("kept"), "nothing had come: {hint}");
    }
}

#[tokio::test]
async fn a_malformed_stream_does_not_blame_the_address() {
    let hi = "data: {\"choices\": [{\"delta\": {\"content\": \"Hi\"}}]}\n\n";
    for tail in [
        "data: {\"choices\": [{\n\n".to_owned(),
        format!("data: {}", "x".repeat(2 << 20)),
    ] {
        for head in ["", hi] {
            let (_, error) = play(Script::new().raw(head).raw(tail.clone()).end()).await;
            let (code, _, _, hint) = told(error);
            assert_eq!(code, "bad_answer");
            assert!(!hint.contains("ACME_BASE_URL"), "{hint}");
            assert_eq!(hint.contains("kept"), !head.is_empty(), "{hint}");
        }
    }
}
