//! Synthetic streams: the known behaviour of servers, and invalid behaviour.

use std::collections::VecDeque;

use serde_json::json;

use super::{super::decoder::ChunkDecoder, decode};
use crate::transport::{
    decoder::{DecodeError, Decoder},
    testing::{self, arguments, call},
};
use parlor_model::{
    FinishReason,
    ModelEvent::{self, Finished, Text, Thinking, ToolArguments},
    ReportedUsage, UnreadableContent,
};

/// Decodes a synthetic stream.
pub fn events_of(chunks: &[serde_json::Value]) -> (Vec<ModelEvent>, Option<DecodeError>) {
    let stream: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    decode([stream.as_bytes()])
}

pub fn delta(delta: serde_json::Value) -> serde_json::Value {
    json!({"choices": [{"index": 0, "delta": delta}]})
}

pub fn finish(reason: &str) -> serde_json::Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

#[test]
fn reads_every_thinking_field() {
    for spelled in [
        vec![
            delta(json!({"reasoning_content": "Hm.", "content": null})),
            delta(json!({"content": "Hi"})),
        ],
        vec![
            delta(json!({"reasoning": "Hm.", "content": ""})),
            delta(json!({"reasoning": null, "content": "Hi"})),
        ],
        // vLLM sends it twice.
        vec![
            delta(json!({"reasoning_content": "Hm.", "reasoning": "Hm."})),
            delta(json!({"content": "Hi"})),
        ],
        // OpenRouter sends it twice, or only in the details.
        vec![
            delta(
                json!({"reasoning": "Hm", "reasoning_details": [{"type": "reasoning.text", "text": "Hm"}]}),
            ),
            delta(json!({"reasoning_details": [{"type": "reasoning.summary", "summary": "."}]})),
            delta(json!({"content": "Hi", "reasoning_details": []})),
        ],
        vec![delta(json!({"content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "Hi"},
        ]}))],
        vec![
            delta(json!({"content": [{"type": "thinking", "thinking": "Hm."}]})),
            delta(json!({"content": "Hi"})),
        ],
        vec![
            delta(json!({"content": "<thi"})),
            delta(json!({"content": "nk>\nHm.</think>\n\nHi"})),
        ],
    ] {
        let chunks = [spelled.as_slice(), &[finish("stop")]].concat();
        let expected = vec![
            Thinking("Hm.".into()),
            Text("Hi".into()),
            Finished(FinishReason::Stop),
        ];
        let (mut events, fault) = events_of(&chunks);
        // The data that OpenRouter expects back.
        events.retain(|event| !matches!(event, ModelEvent::ProviderData { .. }));
        assert_eq!((events, fault), (expected, None), "{chunks:?}");
    }
}

#[test]
fn ignores_odd_values_next_to_the_text() {
    for odd in testing::odd_values() {
        let mut end = finish("stop");
        end["usage"] = json!({
            "prompt_tokens": odd, "completion_tokens": 3,
            "prompt_tokens_details": { "cached_tokens": odd, "image_tokens": 2 },
            "completion_tokens_details": odd,
        });
        let expected = ModelEvent::Usage(ReportedUsage {
            output_tokens: 3,
            image_input_tokens: 2,
            ..ReportedUsage::default()
        });
        let (events, error) = events_of(&[delta(json!({ "content": "Hi" })), end]);
        assert_eq!(error, None, "{odd}");
        for expected in [Text("Hi".into()), expected, Finished(FinishReason::Stop)] {
            assert!(events.contains(&expected), "{odd}: {events:?}");
        }
    }
}

#[test]
fn separates_tool_calls_however_numbered() {
    let call_chunk = |json: serde_json::Value| delta(json!({"tool_calls": [json]}));
    let expected = vec![
        call(0, "a", "one"),
        arguments(0, "{}"),
        call(1, "b", "two"),
        arguments(1, "{}"),
        Finished(FinishReason::ToolCalls),
    ];
    for (how, chunks) in [
        (
            "by index",
            vec![
                call_chunk(json!({"index": 0, "id": "a", "function": {"name": "one", "arguments": ""}})),
                call_chunk(json!({"index": 0, "function": {"arguments": "{}"}})),
                call_chunk(json!({"index": 1, "id": "b", "function": {"name": "two"}})),
                call_chunk(json!({"index": 1, "function": {"name": "", "arguments": "{}"}})),
            ],
        ),
        (
            "without index",
            vec![
                call_chunk(json!({"id": "a", "function": {"name": "one"}})),
                call_chunk(json!({"function": {"arguments": "{}"}})),
                call_chunk(json!({"id": "b", "function": {"name": "two", "arguments": {}}})),
            ],
        ),
        (
            "all with index 0",
            vec![
                call_chunk(json!({"index": 0, "id": "a", "function": {"name": "one", "arguments": "{}"}})),
                call_chunk(json!({"index": 0, "id": "b", "function": {"name": "two", "arguments": "{}"}})),
            ],
        ),
        (
            "with a new id in each fragment",
            vec![
                call_chunk(json!({"index": 0, "id": "a", "function": {"name": "one", "arguments": ""}})),
                call_chunk(json!({"index": 0, "id": "a2", "function": {"arguments": "{"}})),
                call_chunk(json!({"index": 0, "id": "a3", "function": {"name": "one", "arguments": "}"}})),
                call_chunk(json!({"index": 0, "id": "b", "function": {"name": "two", "arguments": ""}})),
                call_chunk(json!({"index": 0, "id": "b2", "function": {"name": "", "arguments": "{}"}})),
            ],
        ),
        (
            "the name last",
            vec![
                call_chunk(json!({"index": 3, "id": "a", "function": {"arguments": "{"}})),
                call_chunk(json!({"index": 3, "function": {"name": "one", "arguments": "}"}})),
                call_chunk(json!({"index": 4, "id": "b", "function": {"name": "two", "arguments": "{}"}})),
            ],
        ),
    ] {
        for reason in ["tool_calls", "stop"] {
            let chunks = [chunks.as_slice(), &[finish(reason)]].concat();
            assert_eq!(events_of(&chunks), (expected.clone(), None), "{how}, {reason}");
        }
    }
}

#[test]
fn counts_a_call_in_both_forms_once() {
    let old = |json: serde_json::Value| json!({"function_call": json});
    let new = |json: serde_json::Value| json!({"tool_calls": [{"index": 0, "id": "a", "function": json}]});
    let both = |json: serde_json::Value| {
        let mut delta = old(json.clone());
        delta["tool_calls"] = new(json)["tool_calls"].take();
        delta
    };
    let (name, rest) = (
        json!({"name": "one", "arguments": "{"}),
        json!({"arguments": "}"}),
    );
    let whole = json!({"name": "one", "arguments": "{}"});
    let empty = json!({"name": "", "arguments": ""});
    for (id, deltas) in [
        ("a", vec![both(whole.clone())]),
        ("a", vec![both(name.clone()), both(rest.clone())]),
        ("a", vec![new(whole.clone()), old(whole.clone())]),
        ("a", vec![old(empty.clone()), both(whole.clone())]),
        ("call_0", vec![old(whole.clone()), new(whole.clone())]),
        ("call_0", vec![old(name), old(rest)]),
    ] {
        let mut chunks: Vec<_> = deltas.into_iter().map(delta).collect();
        chunks.push(finish("tool_calls"));
        let (events, fault) = events_of(&chunks);
        let mut calls = Vec::new();
        let mut said = String::new();
        for event in events {
            match event {
                ModelEvent::ToolCall { id, name, .. } => calls.push((id, name)),
                ToolArguments { delta, .. } => said += &delta,
                _ => {}
            }
        }
        assert_eq!(
            (calls, said, fault),
            (vec![(id.into(), "one".into())], "{}".into(), None),
            "{chunks:?}"
        );
    }
}

#[test]
fn names_content_in_unknown_places() {
    let hi = || Text("Hi".into());
    let unknown = |name: &str, raw: &str| ModelEvent::Unreadable {
        what: UnreadableContent::Unknown(name.into()),
        raw: raw.into(),
    };
    for (chunk, expected) in [
        (json!({"choices": [{"index": 0, "text": "Hi"}]}), vec![hi()]),
        (
            json!({"choices": [{"index": 0, "text": "", "delta": {"content": "Hi"}}]}),
            vec![hi()],
        ),
        (
            json!({"id": "1", "output": "Hi"}),
            vec![unknown("output", "\"Hi\"")],
        ),
        (
            json!({"choices": [], "id": "1", "x_groq": {"id": "r"}, "output": []}),
            vec![],
        ),
        (
            delta(json!({"content": "Hi", "blorp": "hidden", "reasoning": 7, "role": "assistant"})),
            vec![hi(), unknown("blorp", "\"hidden\"")],
        ),
        // The delta counts.
        (
            json!({"choices": [{"index": 0, "delta": {"content": "Hi"}, "message": {"blorp": "hidden"}}]}),
            vec![hi()],
        ),
        // As a router sends it: a number beside the text says something of it.
        (delta(json!({"content": "Hi", "token_id": 128_798})), vec![hi()]),
    ] {
        let (mut events, fault) = events_of(&[chunk.clone(), finish("stop")]);
        assert_eq!(events.pop(), Some(Finished(FinishReason::Stop)), "{chunk}");
        assert_eq!((events, fault), (expected, None), "{chunk}");
    }
}

#[test]
fn releases_held_text_before_a_tool_call() {
    let chunks = [
        delta(json!({"content": "<thi"})),
        delta(json!({"tool_calls": [{"id": "a", "function": {"name": "one", "arguments": "{}"}}]})),
        finish("tool_calls"),
    ];
    let expected = vec![
        Text("<thi".into()),
        call(0, "a", "one"),
        arguments(0, "{}"),
        Finished(FinishReason::ToolCalls),
    ];
    assert_eq!(events_of(&chunks), (expected, None));
}

#[test]
fn maps_every_finish_reason() {
    for (reason, expected) in [
        ("stop", FinishReason::Stop),
        ("length", FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter),
        ("refusal", FinishReason::Refusal),
        (
            "eos_of_the_future",
            FinishReason::Other("eos_of_the_future".into()),
        ),
    ] {
        let expected = vec![Text("Hi".into()), Finished(expected)];
        assert_eq!(
            events_of(&[delta(json!({"content": "Hi"})), finish(reason)]),
            (expected, None),
            "{reason}"
        );
    }
}

#[test]
fn broken_stream_keeps_events_and_names_fault() {
    let text = |text: &str| vec![Text(text.into())];
    let hi = delta(json!({"content": "Hi"}));
    let error = json!({"message": "no", "code": 400});
    for (tail, events, fault) in [
        ("", text("Hi"), Some(DecodeError::Incomplete)),
        (
            "data: {\"choices\": [{\"delta\": {\"con",
            text("Hi"),
            Some(DecodeError::Incomplete),
        ),
        (
            "data: {\"cho\n\n",
            text("Hi"),
            Some(DecodeError::InvalidFrame("{\"cho".into())),
        ),
        (
            &format!("data: {}\n\n", json!({"error": error})),
            text("Hi"),
            Some(DecodeError::ServerError(error.clone())),
        ),
        (
            &format!("event: error\ndata: {error}\n\n"),
            text("Hi"),
            Some(DecodeError::ServerError(error.clone())),
        ),
        (
            "event: error\ndata: no\n\n",
            text("Hi"),
            Some(DecodeError::ServerError("no".into())),
        ),
        (
            &format!("data: {}\n\n", finish("error")),
            text("Hi"),
            Some(DecodeError::ServerError(
                "the model server gave up on this answer".into(),
            )),
        ),
        // Comments, empty data and unknown content types are not errors.
        (
            ": hello\n\ndata:\n\ndata: {\"choices\": [{\"delta\": {\"content\": 7}}]}\n\ndata: {}\n\ndata: [DONE]\n\n",
            vec![
                Text("Hi".into()),
                ModelEvent::Unreadable {
                    what: UnreadableContent::Unknown("content".into()),
                    raw: "7".into(),
                },
                Finished(FinishReason::Stop),
            ],
            None,
        ),
    ] {
        let stream = format!("data: {hi}\n\n{tail}");
        assert_eq!(
            decode([stream.as_bytes()]),
            (events.clone(), fault.clone()),
            "{tail}"
        );
        assert_eq!(
            decode(stream.as_bytes().chunks(1)),
            (events, fault),
            "{tail}, byte by byte"
        );
    }
    assert_eq!(decode([&b"<html>"[..]]), (vec![], Some(DecodeError::NotAStream)));
    for empty in ["", "\n\n", ": still there\n\n: and now\n\n"] {
        assert_eq!(
            decode([empty.as_bytes()]),
            (vec![], Some(DecodeError::Empty)),
            "{empty:?}"
        );
    }
}

#[test]
fn rejects_frames_over_the_limit() {
    let mut decoder = Decoder::new(ChunkDecoder::default(), 100);
    let mut events = VecDeque::new();
    let line = format!("data: {}", "x".repeat(200));
    assert_eq!(
        decoder.push(line.as_bytes(), &mut events),
        Err(DecodeError::FrameTooLong(100))
    );
}

#[test]
fn ignores_data_after_the_end() {
    let stream = "data: [DONE]\n\ndata: nonsense\n\n";
    assert_eq!(
        decode([stream.as_bytes()]),
        (vec![Finished(FinishReason::Stop)], None)
    );
}
