//! Streams decode to the same events in any chunking.

use fuzzing::properties;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{PROVIDER_KIND, decoder::ResponseDecoder};
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

const FOLDER: &str = "openai-responses";

const FIXTURES: [&str; 4] = [
    "lmstudio-tool-call.1",
    "openai-error.1",
    "openai-reasoning-encrypted-content.1",
    "openai-web-search-tool.1",
];

fn decode(bytes: &[u8]) -> (Vec<ModelEvent>, Option<DecodeError>) {
    testing::decode(ResponseDecoder::default(), [bytes])
}

fn decode_events(events: &[Value]) -> (Vec<ModelEvent>, Option<DecodeError>) {
    let events: Vec<String> = events.iter().map(Value::to_string).collect();
    decode(&stream_of(&events, "\n"))
}

fn decode_recorded(name: &str) -> (Vec<ModelEvent>, Option<DecodeError>) {
    decode(&stream_of(&recorded_events(FOLDER, name), "\n"))
}

fn usage(input_tokens: u64, output_tokens: u64, thinking_tokens: u64) -> ModelEvent {
    ModelEvent::Usage(Usage {
        input_tokens,
        output_tokens,
        thinking_tokens,
        ..Usage::default()
    })
}

fn blocks(value: &str) -> ModelEvent {
    let data = Opaque {
        kind: PROVIDER_KIND.into(),
        field: "blocks".into(),
        value: RawJson::parse_or_quote(value),
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

fn delta(kind: &str, index: u64, delta: &str) -> Value {
    json!({ "type": format!("response.{kind}.delta"), "output_index": index, "delta": delta })
}

fn done(index: u64, item: Value) -> Value {
    json!({ "type": "response.output_item.done", "output_index": index, "item": item })
}

fn end(kind: &str, mut response: Value) -> Value {
    response["status"] = json!(kind);
    json!({ "type": format!("response.{kind}"), "response": response })
}

const STOP: ModelEvent = Finished(FinishReason::Stop);
const TOOL_CALLS: ModelEvent = Finished(FinishReason::ToolCalls);

#[test]
fn decodes_recorded_streams_in_any_chunking() {
    check_chunkings(FOLDER, &FIXTURES, ResponseDecoder::default);
}

properties! {
    64;

    #[test]
    fn decodes_recorded_streams_cut_at_random(
        name in prop::sample::select(&FIXTURES[..]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
    ) {
        let decoded = decode_cut(FOLDER, name, ResponseDecoder::default(), &cuts);
        prop_assert_eq!(decoded, decode_recorded(name));
    }
}

#[test]
fn keeps_encrypted_reasoning_beside_recorded_calls() {
    // The recording has four responses.
    let recorded = recorded_events(FOLDER, "openai-reasoning-encrypted-content.1");
    let mut responses: Vec<Vec<String>> = Vec::new();
    for event in recorded {
        if event.contains("\"type\":\"response.created\"") {
            responses.push(Vec::new());
        }
        responses.last_mut().unwrap().push(event);
    }
    let decoded = responses.iter().map(|events| decode(&stream_of(events, "\n")));
    let decoded: Vec<Vec<ModelEvent>> = decoded
        .map(|(events, error)| {
            assert_eq!(error, None);
            events
        })
        .collect();
    let [
        Thinking(thinking),
        ModelEvent::Opaque { data, .. },
        begin,
        made,
        _,
        finished,
    ] = decoded[0].as_slice()
    else {
        panic!("{:?}", decoded[0])
    };
    assert!(thinking.starts_with("**Calculating step-by-step"), "{thinking}");
    let kept: Value = serde_json::from_str(data.value.as_str()).unwrap();
    assert_eq!(kept[0]["type"], "reasoning");
    assert!(
        kept[0]["encrypted_content"]
            .as_str()
            .unwrap()
            .starts_with("gAAAA")
    );
    assert_eq!(begin, &call(0, "call_AB6AaRZ1FYZB2RwS6A5vbdqn", "calculator"));
    assert_eq!(made, &arguments(0, "{\"a\":12,\"b\":7,\"op\":\"add\"}"));
    assert_eq!(finished, &TOOL_CALLS);
    let [Text(text), _, finished] = decoded[3].as_slice() else {
        panic!("{:?}", decoded[3])
    };
    assert_eq!((text.as_str(), finished), ("The final result is **570**.", &STOP));
}

#[test]
fn lists_recorded_annotations_as_sources() {
    let (events, error) = decode_recorded("openai-web-search-tool.1");
    assert_eq!(error, None);
    let sources = events.iter().rev().find_map(|event| match event {
        ModelEvent::Sources(sources) => Some(sources),
        _ => None,
    });
    let sources = sources.unwrap();
    assert_eq!((sources.len(), sources[0].number), (7, 1));
    assert_eq!(
        sources[0].title,
        "Petco confirms security lapse exposed customers’ personal data | TechCrunch"
    );
    let is_unreadable = |event: &ModelEvent| matches!(event, ModelEvent::Unreadable { .. });
    assert!(!events.iter().any(is_unreadable), "{events:?}");
    // The server's own calls are kept in their order.
    assert!(events.iter().any(|event| matches!(event, ModelEvent::Opaque { data, .. } if data.value.as_str().contains("web_search_call"))));
    assert_eq!(events.last(), Some(&STOP));
}

#[test]
fn decodes_a_recorded_local_server() {
    let (events, error) = decode_recorded("lmstudio-tool-call.1");
    assert_eq!(error, None);
    let [Thinking(thinking), Text(text), begin, made, _, finished] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert!(
        thinking.starts_with("The user is asking for the weather"),
        "{thinking}"
    );
    assert!(text.starts_with("I'll get the current weather"), "{text}");
    assert_eq!(begin, &call(0, "call_2025306790300011", "weather"));
    assert_eq!(made, &arguments(0, "{\"location\":\"San Francisco\"}"));
    assert_eq!(finished, &TOOL_CALLS);
}

#[test]
fn reports_the_recorded_error() {
    let (events, error) = decode_recorded("openai-error.1");
    let Some(DecodeError::ServerError(error)) = error else {
        panic!("{error:?}")
    };
    assert_eq!((events, &error["code"]), (vec![], &json!("insufficient_quota")));
}

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
fn names_images_and_unknown_items() {
    let events = [
        done(0, json!({ "type": "image_generation_call", "result": "AAAA" })),
        done(1, json!({ "type": "video", "id": 1 })),
        end("completed", json!({})),
    ];
    let names: Vec<UnreadableContent> = decode_events(&events)
        .0
        .into_iter()
        .filter_map(|event| match event {
            ModelEvent::Unreadable { what, .. } => Some(what),
            _ => None,
        })
        .collect();
    assert_eq!(
        names,
        [
            UnreadableContent::Image,
            UnreadableContent::Unknown("video".into())
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
fn ignores_odd_values_beside_the_text() {
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
