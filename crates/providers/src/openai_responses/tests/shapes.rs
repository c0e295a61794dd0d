//! Odd and unstreamed forms of what a server sends.

use super::*;

#[test]
fn reads_unstreamed_responses() {
    let response = json!({
        "object": "response", "status": "incomplete", "incomplete_details": { "reason": "max_output_tokens" },
        "output": [
            { "type": "reasoning", "summary": [{ "type": "summary_text", "text": "Hm." }] },
            { "type": "message", "content": [{ "type": "output_text", "text": "Hello" }] },
            { "type": "function_call", "call_id": "c1", "name": "look", "arguments": "{\"id\":1}" },
        ],
    });
    assert_eq!(
        decode(response.to_string().as_bytes()),
        (
            vec![
                Thinking("Hm.".into()),
                Text("Hello".into()),
                call(0, "c1", "look"),
                arguments(0, "{\"id\":1}"),
                Finished(FinishReason::Length),
            ],
            None
        )
    );
}

#[test]
fn names_images_and_unknown_items() {
    let events = [
        done(0, json!({ "type": "image_generation_call", "result": "AAAA" })),
        done(1, json!({ "type": "video", "id": 1 })),
        end("completed", json!({})),
    ];
    assert_eq!(
        unreadable(&decode_events(&events).0),
        [
            &UnreadableContent::Image,
            &UnreadableContent::Unknown("video".into())
        ]
    );
}

#[test]
fn reads_content_in_every_form() {
    for content in [
        json!("Hi"),
        json!(["H", "i"]),
        json!({ "type": "output_text", "text": "Hi" }),
        json!([{ "text": "Hi" }]),
        json!([{ "type": "output_audio", "transcript": "Hi", "data": "AAAA" }]),
    ] {
        let message = json!({ "type": "message", "content": content });
        let expected = (vec![Text("Hi".into()), STOP], None);
        let ended = end("completed", json!({}));
        assert_eq!(
            decode_events(&[done(0, message.clone()), ended]),
            expected,
            "{content}"
        );
        // Only the last event has the items.
        let whole = end("completed", json!({ "output": [message] }));
        assert_eq!(decode_events(&[whole]), expected, "{content}");
    }
}

#[test]
fn names_unreadable_parts() {
    for (part, expected) in [
        (
            json!({ "type": "output_image", "image_url": "https://x.example" }),
            UnreadableContent::Image,
        ),
        (
            json!({ "type": "output_audio", "data": "AAAA" }),
            UnreadableContent::Audio,
        ),
        (
            json!({ "type": "output_video" }),
            UnreadableContent::Unknown("output_video".into()),
        ),
    ] {
        let message = json!({ "type": "message", "content": [part] });
        let (events, _) = decode_events(&[done(0, message), end("completed", json!({}))]);
        assert!(
            matches!(&events[..], [ModelEvent::Unreadable { what, .. }, _] if *what == expected),
            "{events:?}"
        );
    }
}

#[test]
fn reads_audio_transcripts() {
    for kind in ["audio.transcript", "output_audio_transcript"] {
        let events = [
            delta("audio", 0, "AAAA"),
            delta(kind, 0, "Hi"),
            end("completed", json!({})),
        ];
        assert_eq!(decode_events(&events), (vec![Text("Hi".into()), STOP], None));
    }
}

#[test]
fn separates_tagged_thinking() {
    let events = [
        delta("output_text", 0, "<think>Hm.</thi"),
        delta("output_text", 0, "nk>\nHi"),
        end("completed", json!({})),
    ];
    assert_eq!(
        decode_events(&events),
        (vec![Thinking("Hm.".into()), Text("Hi".into()), STOP], None)
    );
}

#[test]
fn reads_items_without_positions() {
    let without_position = |mut event: Value| {
        event.as_object_mut().unwrap().remove("output_index");
        event
    };
    let message = json!({ "type": "message", "content": [{ "type": "output_text", "text": "Hi" }] });
    let function =
        |id: &str| json!({ "type": "function_call", "call_id": id, "name": "look", "arguments": "{}" });
    let added = |item: Value| json!({ "type": "response.output_item.added", "item": item });
    let texts = [delta("output_text", 0, "Hi"), done(0, message.clone())];
    let calls = [
        added(function("c1")),
        done(0, function("c1")),
        done(0, function("c2")),
    ];
    let expected = vec![
        Text("Hi".into()),
        call(0, "c1", "look"),
        arguments(0, "{}"),
        call(1, "c2", "look"),
        arguments(1, "{}"),
        TOOL_CALLS,
    ];
    for begin in [vec![], vec![added(message)]] {
        let events = begin.into_iter().chain(texts.clone()).chain(calls.clone());
        let events: Vec<Value> = events
            .map(without_position)
            .chain([end("completed", json!({}))])
            .collect();
        assert_eq!(decode_events(&events), (expected.clone(), None));
    }
}

#[test]
fn ignores_odd_values_next_to_the_text() {
    for odd in testing::odd_values() {
        let mut text = delta("output_text", 0, "Hi");
        for field in ["annotation", "part", "item_id", "summary_index", "message"] {
            text[field] = odd.clone();
        }
        let usage_given = json!({ "input_tokens": odd, "output_tokens": 3, "input_tokens_details": odd });
        let end = end(
            "completed",
            json!({ "incomplete_details": odd, "usage": usage_given }),
        );
        let expected = vec![Text("Hi".into()), usage(0, 3, 0), STOP];
        assert_eq!(decode_events(&[text, end]), (expected, None), "{odd}");
    }
}
