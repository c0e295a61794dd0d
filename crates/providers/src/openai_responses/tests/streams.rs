//! The order, the ends and the errors of streams.

use super::*;

#[test]
fn separates_the_paragraphs_of_a_summary() {
    let paragraph = |summary: u64, text: &str| {
        let mut event = delta("reasoning_summary_text", 0, text);
        event["summary_index"] = json!(summary);
        event
    };
    let item = json!({ "type": "reasoning", "summary": [{ "type": "summary_text", "text": "One" }] });
    let events = [
        paragraph(0, "On"),
        paragraph(0, "e"),
        paragraph(1, "Two"),
        // Without encrypted content, there is nothing to send back.
        done(0, item),
        delta("output_text", 1, "Hi"),
        end(
            "completed",
            json!({ "usage": { "input_tokens": 3, "output_tokens": 9, "output_tokens_details": { "reasoning_tokens": 5 } } }),
        ),
    ];
    assert_eq!(
        decode_events(&events),
        (
            vec![
                Thinking("One\n\nTwo".into()),
                Text("Hi".into()),
                usage(3, 9, 5),
                STOP
            ],
            None
        )
    );
}

#[test]
fn keeps_the_order_of_items() {
    let reasoning = |id: &str| json!({ "type": "reasoning", "encrypted_content": id });
    let function =
        |id: &str| json!({ "type": "function_call", "call_id": id, "name": "look", "arguments": "" });
    let events = [
        done(0, reasoning("a")),
        done(1, function("c1")),
        done(2, reasoning("b")),
        done(3, function("c2")),
        end("completed", json!({})),
    ];
    assert_eq!(
        decode_events(&events),
        (
            vec![
                blocks("[{\"encrypted_content\":\"a\",\"type\":\"reasoning\"}]"),
                call(0, "c1", "look"),
                arguments(0, "{}"),
                blocks("[\"call\",{\"encrypted_content\":\"b\",\"type\":\"reasoning\"}]"),
                call(1, "c2", "look"),
                arguments(1, "{}"),
                TOOL_CALLS,
            ],
            None
        )
    );
}

#[test]
fn names_every_end() {
    for (event, expected) in [
        (end("completed", json!({})), STOP),
        (
            end(
                "incomplete",
                json!({ "incomplete_details": { "reason": "max_output_tokens" } }),
            ),
            Finished(FinishReason::Length),
        ),
        (
            end(
                "incomplete",
                json!({ "incomplete_details": { "reason": "content_filter" } }),
            ),
            Finished(FinishReason::ContentFilter),
        ),
        (
            end(
                "incomplete",
                json!({ "incomplete_details": { "reason": "max_tokens" } }),
            ),
            Finished(FinishReason::Length),
        ),
        (
            end(
                "incomplete",
                json!({ "incomplete_details": { "reason": "stop" } }),
            ),
            Finished(FinishReason::PauseTurn),
        ),
        (
            end("incomplete", json!({ "incomplete_details": null })),
            Finished(FinishReason::PauseTurn),
        ),
    ] {
        assert_eq!(
            decode_events(std::slice::from_ref(&event)),
            (vec![expected], None),
            "{event}"
        );
    }
}

#[test]
fn reports_errors_in_a_stream() {
    let error = json!({ "code": "server_error", "message": "boom" });
    let expected = (vec![], Some(DecodeError::ServerError(error.clone())));
    for event in [
        json!({ "type": "error", "error": error }),
        json!({ "type": "error", "code": "server_error", "message": "boom" }),
        end("failed", json!({ "error": error })),
        json!({ "error": error }),
    ] {
        assert_eq!(decode_events(std::slice::from_ref(&event)), expected, "{event}");
    }
    let whole = json!({ "error": error }).to_string();
    assert_eq!(decode(whole.as_bytes()), expected);
    let error = decode_events(&[end("failed", json!({}))]).1;
    assert!(matches!(error, Some(DecodeError::ServerError(_))), "{error:?}");
    let used = json!({ "error": { "code": "server_error", "message": "boom" }, "usage": { "input_tokens": 3, "output_tokens": 9 } });
    assert_eq!(decode_events(&[end("failed", used)]).0, [usage(3, 9, 0)]);
}

#[test]
fn reports_broken_streams() {
    assert_eq!(
        decode_events(&[delta("output_text", 0, "Hi")]),
        (vec![Text("Hi".into())], Some(DecodeError::Incomplete))
    );
    assert_eq!(
        decode_events(&[json!({ "candidates": [] })]).1,
        Some(DecodeError::UnsupportedProtocol("Google's generateContent"))
    );
    assert_eq!(
        decode(b"data: {\"type\n\n").1,
        Some(DecodeError::InvalidFrame("{\"type".into()))
    );
}

#[test]
fn completes_overlapping_calls_without_arguments() {
    let function =
        |id: &str| json!({ "type": "function_call", "call_id": id, "name": "look", "arguments": "" });
    let added = |index: u64, item: Value| json!({ "type": "response.output_item.added", "output_index": index, "item": item });
    let events = [
        added(0, function("c1")),
        added(1, function("c2")),
        done(0, function("c1")),
        done(1, function("c2")),
        end("completed", json!({})),
    ];
    let mut made = decode_events(&events).0;
    made.retain(|event| matches!(event, ToolArguments { .. }));
    assert_eq!(made, [arguments(0, "{}"), arguments(1, "{}")]);
}

#[test]
fn adds_no_arguments_to_a_cut_call() {
    let function =
        |id: &str| json!({ "type": "function_call", "call_id": id, "name": "look", "arguments": "" });
    let mut incomplete = function("c2");
    incomplete["status"] = json!("incomplete");
    let details = json!({ "incomplete_details": { "reason": "max_output_tokens" } });
    for last in [function("c2"), incomplete] {
        let events = [
            done(0, function("c1")),
            done(1, last),
            end("incomplete", details.clone()),
        ];
        assert_eq!(
            decode_events(&events),
            (
                vec![
                    call(0, "c1", "look"),
                    arguments(0, "{}"),
                    call(1, "c2", "look"),
                    Finished(FinishReason::Length)
                ],
                None
            )
        );
    }
}

#[test]
fn separates_the_texts_of_two_items() {
    let message =
        |text: &str| json!({ "type": "message", "content": [{ "type": "output_text", "text": text }] });
    let search = json!({ "type": "web_search_call", "id": "ws_1" });
    for between in [vec![], vec![done(1, search)]] {
        let mut events = vec![done(0, message("Let me search."))];
        events.extend(between);
        events.extend([done(2, message("It is blue.")), end("completed", json!({}))]);
        let texts = decode_events(&events)
            .0
            .into_iter()
            .filter_map(|event| match event {
                Text(text) => Some(text),
                _ => None,
            });
        assert_eq!(texts.collect::<String>(), "Let me search.\n\nIt is blue.");
    }
}

#[test]
fn reads_odd_json() {
    testing::check_odd_json(
        ResponseDecoder::default,
        &[
            r#"{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","call_id":"a","name":"one"}}"#,
        ],
        &[r#"{"type":"response.completed","response":{"status":"completed"}}"#],
        [
            |delta| format!(r#"{{"type":"response.output_text.delta","output_index":1,"delta":"{delta}"}}"#),
            |delta| {
                format!(r#"{{"type":"response.reasoning_text.delta","output_index":0,"delta":"{delta}"}}"#)
            },
        ],
        Some(|delta| {
            format!(
                r#"{{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{delta}"}}"#
            )
        }),
    );
}
