//! Odd and unstreamed forms of what a server sends.

use super::*;

#[test]
fn reads_unstreamed_messages() {
    let message = json!({
        "type": "message", "role": "assistant", "stop_reason": "max_tokens",
        "usage": { "input_tokens": 3, "output_tokens": 4 },
        "content": [
            { "type": "thinking", "thinking": "Hm.", "signature": "s" }, { "type": "text", "text": "Hello" },
            { "type": "tool_use", "id": "t1", "name": "look", "input": { "id": 1 } },
        ],
    });
    assert_eq!(
        decode(message.to_string().as_bytes()),
        (
            vec![
                Thinking("Hm.".into()),
                blocks(&json!([{ "type": "thinking", "thinking": "Hm.", "signature": "s" }])),
                Text("Hello".into()),
                call(0, "t1", "look"),
                arguments(0, "{\"id\":1}"),
                usage(3, 4),
                Finished(FinishReason::Length),
            ],
            None
        )
    );
}

#[test]
fn reports_unknown_content_once() {
    let video = json!({ "type": "video", "id": 1 });
    let mut events = vec![
        message_start(),
        start(0, video.clone()),
        stop(0),
        start(1, video),
        stop(1),
    ];
    events.extend([start(2, json!({ "type": "image" })), stop(2)]);
    events.extend(message_end("end_turn"));
    let (events, error) = decode_events(&events);
    assert_eq!(error, None);
    assert_eq!(
        unreadable(&events),
        [
            &UnreadableContent::Unknown("video".into()),
            &UnreadableContent::Image
        ]
    );
}

#[test]
fn reads_content_in_every_form() {
    for content in [
        json!("Hi"),
        json!(["H", "i"]),
        json!({ "type": "text", "text": "Hi" }),
        json!([{ "text": "Hi" }]),
    ] {
        let message = json!({ "type": "message", "stop_reason": "end_turn", "content": content });
        assert_eq!(
            decode(message.to_string().as_bytes()),
            (
                vec![Text("Hi".into()), usage(0, 0), Finished(FinishReason::Stop)],
                None
            ),
            "{content}"
        );
    }
    let unnamed = json!({ "type": "message", "stop_reason": "end_turn", "content": [{ "id": 1 }] });
    assert!(matches!(
        &decode(unnamed.to_string().as_bytes()).0[0],
        ModelEvent::Unreadable { what: UnreadableContent::Unknown(name), .. } if name == "block"
    ));
}

#[test]
fn separates_tagged_thinking() {
    let text = |text: &str| delta(0, json!({ "type": "text_delta", "text": text }));
    for (texts, expected) in [
        (
            ["<think>Hm.</thi", "nk>\nHi"],
            vec![Thinking("Hm.".into()), Text("Hi".into())],
        ),
        (
            ["Hm.\n</think>\n", "Hi"],
            vec![
                Text("Hm.\n".into()),
                ModelEvent::TextWasThinking,
                Text("Hi".into()),
            ],
        ),
    ] {
        let mut events = vec![message_start()];
        events.extend(texts.map(text));
        events.extend(message_end("end_turn"));
        let decoded = decode_events(&events).0;
        assert_eq!(decoded[..expected.len()], expected, "{texts:?}");
    }
}

#[test]
fn ignores_odd_values_next_to_the_text() {
    for odd in testing::odd_values() {
        let text = json!({ "type": "text_delta", "text": "Hi", "citation": odd, "stop_details": odd });
        let end = json!({
            "type": "message_delta",
            "delta": { "stop_reason": "end_turn", "stop_details": odd },
            "usage": { "input_tokens": odd, "output_tokens": 3, "output_tokens_details": odd },
        });
        let events = [
            json!({ "type": "message_start", "message": odd }),
            start(0, json!({ "type": "text", "text": "", "citations": odd })),
            delta(0, text),
            stop(0),
            end,
            json!({ "type": "message_stop" }),
        ];
        let (events, error) = decode_events(&events);
        assert_eq!(error, None, "{odd}");
        for expected in [Text("Hi".into()), usage(0, 3), Finished(FinishReason::Stop)] {
            assert!(events.contains(&expected), "{odd}: {events:?}");
        }
    }
}

#[test]
fn second_message_in_a_stream_breaks_it() {
    let begin = |id: &str| json!({ "type": "message_start", "message": { "id": id, "usage": { "input_tokens": 3 } } });
    let text = |text: &str| delta(0, json!({ "type": "text_delta", "text": text }));
    let block = || start(0, json!({ "type": "text", "text": "" }));
    // Some proxies send the beginning twice.
    let (events, error) = decode_events(&[begin("a"), begin("a"), block(), text("One")]);
    assert_eq!(
        (events, error),
        (vec![Text("One".into())], Some(DecodeError::Incomplete))
    );
    let (events, error) =
        decode_events(&[begin("a"), block(), text("One"), begin("b"), block(), text("Two")]);
    assert_eq!(events, [Text("One".into())]);
    assert!(matches!(error, Some(DecodeError::InvalidFrame(_))), "{error:?}");
}
