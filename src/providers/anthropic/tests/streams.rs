//! Streams decode to the same events in any chunking.

use fuzzing::properties;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{PROVIDER_KIND, decoder::MessageDecoder};
use crate::{
    model::{
        FinishReason,
        ModelEvent::{self, Finished, Text, Thinking, ToolArguments},
        OpaqueTarget, UnreadableContent, Usage,
    },
    protocol::{Opaque, RawJson},
    providers::transport::{
        decoder::DecodeError,
        testing::{self, check_chunkings, decode_cut, recorded_events, stream_of},
    },
};

const FOLDER: &str = "anthropic";

const FIXTURES: [&str; 9] = [
    "anthropic-clear-thinking.1",
    "anthropic-fallback",
    "anthropic-json-tool.1",
    "anthropic-message-delta-input-tokens",
    "anthropic-refusal",
    "anthropic-text",
    "anthropic-tool-no-args",
    "anthropic-web-search-tool.1",
    "duplicate-message-start",
];

fn decode(bytes: &[u8]) -> (Vec<ModelEvent>, Option<DecodeError>) {
    testing::decode(MessageDecoder::default(), [bytes])
}

/// Decodes these events.
fn decode_events(events: &[Value]) -> (Vec<ModelEvent>, Option<DecodeError>) {
    let events: Vec<String> = events.iter().map(Value::to_string).collect();
    decode(&stream_of(&events, "\n"))
}

fn decode_recorded(name: &str) -> Vec<ModelEvent> {
    let (events, error) = decode(&stream_of(&recorded_events(FOLDER, name), "\n"));
    assert_eq!(error, None, "{name}");
    events
}

fn usage(input_tokens: u64, output_tokens: u64) -> ModelEvent {
    ModelEvent::Usage(Usage {
        input_tokens,
        output_tokens,
        ..Usage::default()
    })
}

/// Returns the event of these provider blocks, with the texts and calls before them.
fn blocks(value: &Value) -> ModelEvent {
    let data = Opaque {
        kind: PROVIDER_KIND.into(),
        field: "blocks".into(),
        value: RawJson::parse_or_quote(&value.to_string()),
    };
    let beside = OpaqueTarget::Answer;
    ModelEvent::Opaque { beside, data }
}

fn call(index: usize, id: &str, name: &str) -> ModelEvent {
    let (id, name) = (id.into(), name.into());
    ModelEvent::ToolCall { index, id, name }
}

fn arguments(index: usize, delta: &str) -> ModelEvent {
    let delta = delta.into();
    ToolArguments { index, delta }
}

fn start(index: u64, block: Value) -> Value {
    json!({ "type": "content_block_start", "index": index, "content_block": block })
}

fn delta(index: u64, delta: Value) -> Value {
    json!({ "type": "content_block_delta", "index": index, "delta": delta })
}

fn stop(index: u64) -> Value {
    json!({ "type": "content_block_stop", "index": index })
}

fn message_start() -> Value {
    let usage = json!({ "input_tokens": 10, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 200, "output_tokens": 1 });
    json!({ "type": "message_start", "message": { "usage": usage } })
}

fn message_end(reason: &str) -> [Value; 2] {
    let end = json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 7 } });
    [end, json!({ "type": "message_stop" })]
}

#[test]
fn decodes_recorded_streams_in_any_chunking() {
    check_chunkings(FOLDER, &FIXTURES, MessageDecoder::default);
}

properties! {
    64;

    #[test]
    fn decodes_recorded_streams_cut_at_random(
        name in prop::sample::select(&FIXTURES[..]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
    ) {
        let decoded = decode_cut(FOLDER, name, MessageDecoder::default(), &cuts);
        prop_assert_eq!(decoded, (decode_recorded(name), None));
    }
}

#[test]
fn decodes_recorded_texts() {
    for (name, begin, counts, reason) in [
        (
            "anthropic-fallback",
            Some("The printing press"),
            usage(412, 264),
            FinishReason::Stop,
        ),
        (
            "anthropic-message-delta-input-tokens",
            Some("pong"),
            usage(61, 2),
            FinishReason::Stop,
        ),
        ("anthropic-refusal", None, usage(18, 5), FinishReason::Refusal),
        (
            "duplicate-message-start",
            Some("Hello, World!"),
            usage(17, 227),
            FinishReason::Stop,
        ),
    ] {
        let events = decode_recorded(name);
        let (text, rest) = match events.as_slice() {
            [Text(text), rest @ ..] => (Some(text.as_str()), rest),
            rest => (None, rest),
        };
        let rest = match rest {
            [ModelEvent::Refusal(explanation), rest @ ..] => {
                assert!(
                    explanation.starts_with("This request triggered restrictions"),
                    "{name}"
                );
                assert_eq!(reason, FinishReason::Refusal, "{name}");
                rest
            }
            rest => rest,
        };
        assert_eq!(rest, [counts, Finished(reason)], "{name}");
        match (text, begin) {
            (Some(text), Some(begin)) => assert!(text.starts_with(begin), "{name}: {text}"),
            (text, begin) => assert_eq!(text, begin, "{name}"),
        }
    }
}

#[test]
fn keeps_signed_thinking() {
    let events = decode_recorded("anthropic-clear-thinking.1");
    let [
        Thinking(thinking),
        ModelEvent::Opaque { beside, data },
        Text(text),
        counts,
        end,
    ] = events.as_slice()
    else {
        panic!("{events:?}")
    };
    assert_eq!(
        thinking,
        "The previous result was 925. Now I need to divide that by 5.\n\n925 ÷ 5 = 185"
    );
    assert_eq!((beside, text.as_str()), (&OpaqueTarget::Answer, "925 ÷ 5 = 185"));
    let kept: Value = serde_json::from_str(data.value.as_str()).unwrap();
    assert_eq!(kept[0]["thinking"], *thinking);
    assert!(kept[0]["signature"].as_str().unwrap().starts_with("EvQBCkYICxgC"));
    assert_eq!((counts, end), (&usage(69, 53), &Finished(FinishReason::Stop)));
}

#[test]
fn decodes_recorded_calls() {
    let events = decode_recorded("anthropic-tool-no-args");
    assert_eq!(
        events[1..],
        [
            call(0, "toolu_01QE1WLsSVp5hy5Q3GmGTmjP", "updateIssueList"),
            arguments(0, "{}"),
            usage(565, 48),
            Finished(FinishReason::ToolCalls),
        ]
    );
    let events = decode_recorded("anthropic-json-tool.1");
    let [_, ToolArguments { delta, .. }, ..] = events.as_slice() else {
        panic!("{events:?}")
    };
    let input: Value = serde_json::from_str(delta).unwrap();
    assert_eq!(input["elements"][0]["location"], "San Francisco");
}

#[test]
fn lists_citations_of_server_tools_as_sources() {
    let events = decode_recorded("anthropic-web-search-tool.1");
    let sources = events.iter().rev().find_map(|event| match event {
        ModelEvent::Sources(sources) => Some(sources),
        _ => None,
    });
    let sources = sources.unwrap();
    assert_eq!(
        (sources[0].number, sources[0].title.as_str()),
        (
            1,
            "The all-new Apple Ginza opens this Friday, September 26, in Tokyo - Apple"
        )
    );
    assert_eq!(sources.len(), 4);
    // The search and its result are kept for the server, the search with its whole input.
    let kept: Vec<Value> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::Opaque { data, .. } => Some(serde_json::from_str(data.value.as_str()).unwrap()),
            _ => None,
        })
        .collect();
    assert_eq!(kept.len(), 2);
    assert_eq!(
        kept[0][0]["input"],
        json!({"query": "tech news today September 26 2025"})
    );
    assert_eq!(kept[1][0]["type"], "web_search_tool_result");
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, ModelEvent::Unreadable { .. }))
    );
}

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
    let counts = Usage {
        input_tokens: 240,
        output_tokens: 7,
        cached_input_tokens: 200,
        cache_write_tokens: 30,
        ..Usage::default()
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
    let names: Vec<UnreadableContent> = events
        .into_iter()
        .filter_map(|event| match event {
            ModelEvent::Unreadable { what, .. } => Some(what),
            _ => None,
        })
        .collect();
    assert_eq!(
        names,
        [
            UnreadableContent::Unknown("video".into()),
            UnreadableContent::Image
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
fn ignores_odd_values_beside_the_text() {
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
