//! The recorded streams of real servers decode to the same events in any chunking.

use std::path::Path;

use fuzzing::properties;
use proptest::prelude::*;
use serde_json::json;

use super::decode;
use crate::transport::testing::{self, cut_at};
use parlor_model::{
    FinishReason,
    ModelEvent::{self, Finished, Text, Thinking, ToolArguments},
};

const FIXTURES: [&str; 8] = [
    "azure-model-router.1",
    "deepseek-reasoning",
    "deepseek-tool-call",
    "groq-reasoning",
    "mistral-incremental-tool-call",
    "mistral-reasoning",
    "openai-text",
    "xai-tool-call",
];

/// Returns the bytes of a recorded stream.
fn recorded_stream(name: &str, line_end: &str) -> Vec<u8> {
    stream_in("openai-chat", name, line_end)
}

/// Returns the bytes of a stream in another folder.
pub(super) fn stream_in(folder: &str, name: &str, line_end: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/model-streams")
        .join(folder)
        .join(format!("{name}.jsonl"));
    let chunks = std::fs::read_to_string(path).unwrap();
    let frames = chunks.lines().filter(|line| !line.is_empty()).chain(["[DONE]"]);
    frames
        .map(|data| format!("data: {data}{line_end}{line_end}"))
        .collect::<String>()
        .into_bytes()
}

fn decode_recorded(name: &str) -> Vec<ModelEvent> {
    let (events, fault) = decode([recorded_stream(name, "\n").as_slice()]);
    assert_eq!(fault, None, "{name}");
    events
}

/// Returns an event of token counts without their details.
fn whole_counts(event: &ModelEvent) -> ModelEvent {
    match event {
        ModelEvent::Usage(counts) => usage(counts.input_tokens, counts.output_tokens),
        other => other.clone(),
    }
}

fn usage(input_tokens: u64, output_tokens: u64) -> ModelEvent {
    testing::usage(input_tokens, output_tokens, 0)
}

#[test]
fn decodes_recorded_streams_in_any_chunking() {
    for name in FIXTURES {
        let expected = (decode_recorded(name), None);
        let bytes = recorded_stream(name, "\n");
        assert_eq!(decode(bytes.chunks(1)), expected, "{name}, byte by byte");
        for line_end in ["\r\n", "\r"] {
            let bytes = recorded_stream(name, line_end);
            assert_eq!(decode([bytes.as_slice()]), expected, "{name}, {line_end:?}");
            assert_eq!(
                decode(bytes.chunks(1)),
                expected,
                "{name}, {line_end:?}, byte by byte"
            );
        }
    }
}

properties! {
    64;

    #[test]
    fn decodes_recorded_streams_cut_at_random(
        name in prop::sample::select(&FIXTURES[..]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
    ) {
        let bytes = recorded_stream(name, "\n");
        prop_assert_eq!(decode(cut_at(&bytes, &cuts)), (decode_recorded(name), None));
    }
}

#[test]
fn separates_thinking_and_text_in_recordings() {
    for (name, thinking, text, counts) in [
        (
            "deepseek-reasoning",
            "We need to count",
            "The word",
            usage(18, 219),
        ),
        ("groq-reasoning", "Okay, let", "", usage(17, 1107)),
        (
            "mistral-reasoning",
            "The user is asking for 2+2.",
            "2 + 2 = 4",
            usage(10, 46),
        ),
    ] {
        match decode_recorded(name).as_slice() {
            [Thinking(first), Text(second), last, Finished(FinishReason::Stop)] => {
                assert!(first.starts_with(thinking), "{name}: {first}");
                assert!(second.starts_with(text), "{name}: {second}");
                assert_eq!(whole_counts(last), counts, "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    for (name, text, counts) in [
        ("openai-text", "**Holiday Name", usage(16, 300)),
        ("azure-model-router.1", "Capital of", usage(15, 78)),
    ] {
        match decode_recorded(name).as_slice() {
            [Text(first), last, Finished(FinishReason::Stop)] => {
                assert!(first.starts_with(text), "{name}: {first}");
                assert_eq!(whole_counts(last), counts, "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn decodes_tool_calls_in_recordings() {
    for (name, id, tool, input) in [
        (
            "deepseek-tool-call",
            None,
            "weather",
            json!({"location": "San Francisco"}),
        ),
        (
            "xai-tool-call",
            Some("call_79382389"),
            "weather",
            json!({"location": "San Francisco"}),
        ),
        (
            "mistral-incremental-tool-call",
            Some("chatcmpl-tool-9f149c74c42f265b"),
            "webSearchTool",
            json!({"query": "current Berlin weather"}),
        ),
    ] {
        let events = decode_recorded(name);
        let begins_with_thinking = matches!(events.first(), Some(Thinking(_)));
        assert_eq!(
            begins_with_thinking,
            name != "mistral-incremental-tool-call",
            "{name}"
        );
        match &events[usize::from(begins_with_thinking)..] {
            [
                call,
                ToolArguments { index: 0, delta },
                ModelEvent::Usage(_),
                Finished(reason),
            ] => {
                let ModelEvent::ToolCall {
                    index: 0,
                    id: got,
                    name: called,
                } = call
                else {
                    panic!("{name}: {call:?}");
                };
                assert!(
                    id.map_or(got.starts_with("call_"), |id| id == got),
                    "{name}: {got}"
                );
                assert_eq!(called, tool, "{name}");
                assert_eq!(
                    serde_json::from_str::<serde_json::Value>(delta).unwrap(),
                    input,
                    "{name}"
                );
                assert_eq!(*reason, FinishReason::ToolCalls, "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}
