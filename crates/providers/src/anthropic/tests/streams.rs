//! The order, the ends and the errors of streams.

use super::*;

#[test]
fn keeps_the_order_of_interleaved_blocks() {
    let thinking = |signature: &str| json!({ "type": "thinking", "thinking": "", "signature": signature });
    let mut events = vec![message_start()];
    events.extend([start(0, thinking("a")), stop(0)]);
    events.extend([start(1, json!({ "type": "text", "text": "One" })), stop(1)]);
    events.extend([
        start(2, json!({ "type": "redacted_thinking", "data": "xyz" })),
        stop(2),
    ]);
    for (index, id) in [(3, "t1"), (4, "t2")] {
        let block = json!({ "type": "tool_use", "id": id, "name": "look", "input": {} });
        let input = json!({ "type": "input_json_delta", "partial_json": format!("{{\"id\":\"{id}\"}}") });
        events.extend([start(index, block), delta(index, input), stop(index)]);
    }
    events.extend(message_end("tool_use"));
    let counts = ReportedUsage {
        input_tokens: 240,
        output_tokens: 7,
        cached_input_tokens: 200,
        cache_write_tokens: 30,
        ..ReportedUsage::default()
    };
    assert_eq!(
        decode_events(&events),
        (
            vec![
                blocks(&json!([thinking("a")])),
                Text("One".into()),
                blocks(&json!([[3, "One"], { "type": "redacted_thinking", "data": "xyz" }])),
                call(0, "t1", "look"),
                arguments(0, "{\"id\":\"t1\"}"),
                call(1, "t2", "look"),
                arguments(1, "{\"id\":\"t2\"}"),
                ModelEvent::Usage(counts),
                Finished(FinishReason::ToolCalls),
            ],
            None
        )
    );
}

#[test]
fn explains_a_refusal() {
    let explanation = |details: Value| {
        let end = json!({ "type": "message_delta", "delta": { "stop_reason": "refusal", "stop_details": details } });
        let (events, _) = decode_events(&[message_start(), end, json!({ "type": "message_stop" })]);
        events.into_iter().find_map(|event| match event {
            ModelEvent::Refusal(explanation) => Some(explanation),
            _ => None,
        })
    };
    let whole = json!({ "type": "refusal", "category": "cyber", "explanation": "This was blocked." });
    assert_eq!(explanation(whole).unwrap(), "This was blocked.");
    assert_eq!(
        explanation(json!({ "category": "cyber", "explanation": null })).unwrap(),
        "cyber"
    );
    assert_eq!(explanation(Value::Null), None);
}

#[test]
fn names_every_stop_reason() {
    for (reason, expected) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("refusal", FinishReason::Refusal),
        ("pause_turn", FinishReason::PauseTurn),
        ("from_the_future", FinishReason::Other("from_the_future".into())),
    ] {
        let events: Vec<Value> = [message_start()].into_iter().chain(message_end(reason)).collect();
        assert_eq!(
            decode_events(&events).0.pop(),
            Some(Finished(expected)),
            "{reason}"
        );
    }
}

#[test]
fn reports_errors_in_a_stream() {
    let overloaded = json!({ "type": "overloaded_error", "message": "Overloaded" });
    let error = json!({ "type": "error", "error": overloaded });
    for events in [
        vec![error.clone()],
        vec![message_start(), json!({ "type": "ping" }), error.clone()],
    ] {
        let expected = DecodeError::ServerError(overloaded.clone());
        assert_eq!(decode_events(&events), (vec![], Some(expected)));
    }
    let expected = DecodeError::ServerError(overloaded);
    assert_eq!(decode(error.to_string().as_bytes()), (vec![], Some(expected)));
}

#[test]
fn reports_broken_streams() {
    let text = delta(0, json!({ "type": "text_delta", "text": "Hi" }));
    for (events, expected) in [
        (
            vec![message_start(), text.clone()],
            (vec![Text("Hi".into())], DecodeError::Incomplete),
        ),
        (vec![json!({ "type": "ping" })], (vec![], DecodeError::Incomplete)),
        (
            vec![json!({ "choices": [] })],
            (
                vec![],
                DecodeError::UnsupportedProtocol("OpenAI's chat completions"),
            ),
        ),
    ] {
        assert_eq!(
            decode_events(&events),
            (expected.0, Some(expected.1)),
            "{events:?}"
        );
    }
    assert_eq!(
        decode(b"data: {\"type\n\n").1,
        Some(DecodeError::InvalidFrame("{\"type".into()))
    );
    assert_eq!(decode(b"").1, Some(DecodeError::Empty));
}

#[test]
fn overlapping_calls_keep_their_inputs() {
    let block = |id: &str| json!({ "type": "tool_use", "id": id, "name": "look", "input": { "at": id } });
    let mut events = vec![
        message_start(),
        start(0, block("t1")),
        start(1, block("t2")),
        stop(0),
        stop(1),
    ];
    events.extend(message_end("tool_use"));
    let mut made = decode_events(&events).0;
    made.retain(|event| matches!(event, ToolArguments { .. }));
    assert_eq!(
        made,
        [arguments(0, r#"{"at":"t1"}"#), arguments(1, r#"{"at":"t2"}"#)]
    );
}

#[test]
fn adds_no_arguments_to_a_cut_call() {
    let block = |id: &str| json!({ "type": "tool_use", "id": id, "name": "look", "input": {} });
    for ends in [vec![], vec![stop(1)]] {
        let mut events = vec![
            message_start(),
            start(0, block("t1")),
            stop(0),
            start(1, block("t2")),
        ];
        events.extend(ends.clone());
        events.extend(message_end("max_tokens"));
        let decoded = decode_events(&events).0;
        let made: Vec<&ModelEvent> = decoded
            .iter()
            .filter(|event| matches!(event, ToolArguments { .. }))
            .collect();
        assert_eq!(made, [&arguments(0, "{}")], "{ends:?}: the first one has ended");
        assert_eq!(decoded.last(), Some(&Finished(FinishReason::Length)));
    }
}

#[test]
fn separates_texts_around_a_server_tool() {
    let text = |index, text: &str| [start(index, json!({ "type": "text", "text": text })), stop(index)];
    let mut events = vec![message_start()];
    events.extend(text(0, "Let me search."));
    let search = json!({ "type": "server_tool_use", "id": "s1", "name": "web_search", "input": {} });
    let found = json!({ "type": "web_search_tool_result", "tool_use_id": "s1", "content": [] });
    events.extend([start(1, search), stop(1), start(2, found), stop(2)]);
    // The parts of a sentence with citations are blocks of their own.
    events.extend(text(3, "It is "));
    events.extend(text(4, "blue."));
    events.extend(message_end("end_turn"));
    let texts = decode_events(&events)
        .0
        .into_iter()
        .filter_map(|event| match event {
            Text(text) => Some(text),
            _ => None,
        });
    assert_eq!(texts.collect::<String>(), "Let me search.\n\nIt is blue.");
}

#[test]
fn reads_odd_json() {
    testing::check_odd_json(
        MessageDecoder::default,
        &[
            r#"{"type":"message_start","message":{}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":""}}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"a","name":"one","input":{}}}"#,
        ],
        &[
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
            r#"{"type":"message_stop"}"#,
        ],
        [
            |delta| {
                format!(
                    r#"{{"type":"content_block_delta","index":2,"delta":{{"type":"text_delta","text":"{delta}"}}}}"#
                )
            },
            |delta| {
                format!(
                    r#"{{"type":"content_block_delta","index":1,"delta":{{"type":"thinking_delta","thinking":"{delta}"}}}}"#
                )
            },
        ],
        Some(|delta| {
            format!(
                r#"{{"type":"content_block_delta","index":3,"delta":{{"type":"input_json_delta","partial_json":"{delta}"}}}}"#
            )
        }),
    );
}

#[test]
fn keeps_the_usage_of_a_failed_answer() {
    let error = json!({ "type": "overloaded_error", "message": "no" });
    let failed = json!({ "type": "error", "error": error });
    let said = delta(0, json!({ "type": "text_delta", "text": "Hi" }));
    let [counted, _] = message_end("end_turn");
    let counts = ModelEvent::Usage(ReportedUsage {
        input_tokens: 240,
        output_tokens: 7,
        cached_input_tokens: 200,
        cache_write_tokens: 30,
        ..ReportedUsage::default()
    });
    let (events, fault) = decode_events(&[message_start(), said.clone(), counted, failed.clone()]);
    assert_eq!(events, [Text("Hi".into()), counts]);
    assert_eq!(fault, Some(DecodeError::ServerError(error.clone())));
    // The output is not known yet: it is estimated.
    let (events, fault) = decode_events(&[message_start(), said, failed]);
    assert_eq!(events, [Text("Hi".into())]);
    assert_eq!(fault, Some(DecodeError::ServerError(error)));
}

#[test]
fn signed_thinking_keeps_its_split_emoji() {
    let thinking = json!({ "type": "thinking", "thinking": "", "signature": "s" });
    let texts = [r"\ud83d", r"\ude00"].map(|half| {
        format!(r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"thinking_delta","thinking":"{half}"}}}}"#)
    });
    let events = [
        vec![start(0, thinking.clone()).to_string()],
        texts.to_vec(),
        vec![stop(0).to_string()],
        message_end("end_turn").map(|event| event.to_string()).to_vec(),
    ]
    .concat();
    let (events, error) = testing::decode_texts(MessageDecoder::default(), &events);
    let signed = json!([{ "type": "thinking", "thinking": "😀", "signature": "s" }]);
    assert_eq!(
        (&events[..2], error),
        (&[Thinking("😀".into()), blocks(&signed)][..], None)
    );
}
