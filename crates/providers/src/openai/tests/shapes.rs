//! Answers in non-OpenAI formats: known content is decoded, and the rest is reported.

use serde_json::json;

use super::{decode, recorded::stream_in};
use crate::transport::{
    decoder::DecodeError,
    testing::{self, arguments, call},
};
use parlor_model::{
    EncodedImage, FinishReason,
    ModelEvent::{self, Finished, Sources, Text, TextWasThinking, Thinking},
    ProviderDataTarget, UnreadableContent,
};
use parlor_protocol::CitedSource;

fn text(text: &str) -> ModelEvent {
    Text(text.into())
}

fn thinking(text: &str) -> ModelEvent {
    Thinking(text.into())
}

fn usage(input_tokens: u64, output_tokens: u64) -> ModelEvent {
    testing::usage(input_tokens, output_tokens, 0)
}

fn provider_data(target: ProviderDataTarget, field: &str, value: &str) -> ModelEvent {
    testing::provider_data("openai", target, field, value)
}

fn unreadable(what: UnreadableContent, raw: &str) -> ModelEvent {
    ModelEvent::Unreadable {
        what,
        raw: raw.into(),
    }
}

fn sources(pages: &[(&str, &str)]) -> ModelEvent {
    let source = |(index, (title, url)): (usize, &(&str, &str))| CitedSource {
        number: index + 1,
        title: (*title).into(),
        url: (*url).into(),
        passage: None,
    };
    Sources(pages.iter().enumerate().map(source).collect())
}

const STOP: ModelEvent = Finished(FinishReason::Stop);
const CALLS: ModelEvent = Finished(FinishReason::ToolCalls);

const PAGES: [(&str, &str); 3] = [
    ("A", "https://a.example/1"),
    ("B", "https://b.example/2"),
    ("C", "https://c.example/3"),
];

const DETAILS: &str = concat!(
    r#"[{"format":"anthropic-claude-v1","index":0,"signature":"c2ln","text":"Let me look.","type":"reasoning.text"},"#,
    r#"{"type":"reasoning.encrypted","data":"3q2+7w==","id":"tool_1","format":"google-gemini-v1","index":1}]"#
);

/// The events of each stream in `made-up`.
fn expected() -> Vec<(&'static str, Vec<ModelEvent>)> {
    vec![
        (
            "perplexity-citations",
            vec![sources(&PAGES), text("Whales sing[3]."), usage(3, 2), STOP],
        ),
        (
            "openrouter-annotations",
            vec![
                text("See [a.example](https://a.example/1)."),
                sources(&PAGES[..1]),
                sources(&PAGES[..2]),
                STOP,
            ],
        ),
        (
            "openrouter-images",
            vec![
                text("Here it is:"),
                ModelEvent::Image(EncodedImage("data:image/png;base64,iVBORw0KGgo=".into())),
                STOP,
            ],
        ),
        (
            "openrouter-reasoning-details",
            vec![
                thinking("Let me look."),
                call(0, "tool_1", "look"),
                arguments(0, "{}"),
                provider_data(ProviderDataTarget::Answer, "reasoning_details", DETAILS),
                usage(7, 9),
                CALLS,
            ],
        ),
        (
            "litellm-thinking-blocks",
            vec![
                thinking("Hm."),
                text("Hi"),
                provider_data(
                    ProviderDataTarget::Answer,
                    "thinking_blocks",
                    r#"[{"signature":"EqQB","thinking":"Hm.","type":"thinking"}]"#,
                ),
                STOP,
            ],
        ),
        (
            "gemini-thought-signature",
            vec![
                call(0, "function-call-1", "weather"),
                provider_data(
                    ProviderDataTarget::ToolCall(0),
                    "extra_content",
                    r#"{"google":{"thought_signature":"Cs4BAc/+7w=="}}"#,
                ),
                arguments(0, r#"{"city":"Paris"}"#),
                call(1, "function-call-2", "weather"),
                arguments(1, r#"{"city":"London"}"#),
                CALLS,
            ],
        ),
        ("openai-audio", vec![text("Good day."), STOP]),
        (
            "openai-function-call",
            vec![call(0, "call_0", "look"), arguments(0, r#"{"at":1}"#), CALLS],
        ),
        ("copilot-reasoning-text", vec![thinking("Hm."), text("Hi"), STOP]),
        ("proxy-thinking", vec![thinking("Hm."), text("Hi"), STOP]),
        (
            "vllm-no-opening-tag",
            vec![
                text("The person greets. I greet back.\n"),
                TextWasThinking,
                text("Hi there"),
                STOP,
            ],
        ),
        ("proxy-message", vec![text("Good day."), STOP]),
        ("proxy-other-index", vec![text("Good day."), STOP]),
        (
            "content-parts",
            vec![
                text("One two three four"),
                unreadable(
                    UnreadableContent::Image,
                    r#"{"image_url":{"url":"https://x.example/a.png"}}"#,
                ),
                ModelEvent::Image(EncodedImage("data:image/png;base64,iVBORw0KGgo=".into())),
                STOP,
            ],
        ),
        (
            "unknown-field",
            vec![
                unreadable(
                    UnreadableContent::Unknown("video_frames".into()),
                    r#"[{"data":"AAAA"}]"#,
                ),
                STOP,
            ],
        ),
    ]
}

#[test]
fn reads_every_format_however_cut() {
    for (name, expected) in expected() {
        let expected = (expected, None);
        let bytes = stream_in("made-up", name, "\n");
        assert_eq!(decode([bytes.as_slice()]), expected, "{name}");
        assert_eq!(decode(bytes.chunks(1)), expected, "{name}, byte by byte");
        assert_eq!(decode(bytes.chunks(7)), expected, "{name}, by seven bytes");
    }
}

#[test]
fn reads_unstreamed_answers() {
    let answer = json!({
        "id": "1", "object": "chat.completion", "usage": {"prompt_tokens": 3, "completion_tokens": 2},
        "choices": [{"index": 0, "finish_reason": "length", "message": {
            "role": "assistant", "reasoning_content": "Hm.", "content": "Hi",
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        }}],
    });
    let expected = vec![
        thinking("Hm."),
        text("Hi"),
        call(0, "a", "look"),
        arguments(0, "{}"),
        usage(3, 2),
        Finished(FinishReason::Length),
    ];
    let answer = format!(" \n{answer:#}\n");
    assert_eq!(decode([answer.as_bytes()]), (expected.clone(), None));
    assert_eq!(decode(answer.as_bytes().chunks(1)), (expected, None));
    let half = &answer.as_bytes()[..answer.len() / 2];
    assert_eq!(decode([half]), (vec![], Some(DecodeError::Incomplete)));
    let error = json!({"error": {"message": "no"}}).to_string();
    assert_eq!(
        decode([error.as_bytes()]),
        (vec![], Some(DecodeError::ServerError(json!({"message": "no"}))))
    );
    assert_eq!(
        decode([&b"{\"a\":1}"[..]]),
        (vec![], Some(DecodeError::NotAStream))
    );
}

#[test]
fn names_other_protocols() {
    let cohere = "Cohere's own";
    for (answer, name) in [
        (
            "event: message-start\ndata: {\"id\":\"1\",\"type\":\"message-start\",\"delta\":{\"message\":{\"role\":\"assistant\"}}}\n\n",
            cohere,
        ),
        (
            "{\"is_finished\":false,\"event_type\":\"stream-start\"}\n{\"is_finished\":false,\"event_type\":\"text-generation\",\"text\":\"Hi\"}\n",
            cohere,
        ),
        (
            "{\"id\":\"1\",\"finish_reason\":\"COMPLETE\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}}",
            cohere,
        ),
        (
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n",
            "Anthropic's Messages",
        ),
        (
            "data: {\"type\":\"response.created\",\"response\":{}}\n\n",
            "OpenAI's Responses",
        ),
        (
            "data: {\"candidates\":[{\"content\":{}}]}\n\n",
            "Google's generateContent",
        ),
        (
            "{\"model\":\"m\",\"message\":{\"content\":\"Hi\"},\"done\":false}\n{\"done\":true}\n",
            "Ollama's own",
        ),
    ] {
        assert_eq!(
            decode([answer.as_bytes()]),
            (vec![], Some(DecodeError::UnsupportedProtocol(name))),
            "{answer}"
        );
    }
}

#[test]
fn limits_held_reasoning_details() {
    let entry = json!({"type": "reasoning.encrypted", "data": "x".repeat(1 << 20)});
    let chunk = json!({"choices": [{"delta": {"reasoning_details": [entry]}}]});
    let mut stream = format!("data: {chunk}\n\n").repeat(5);
    stream += "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n";
    let mut decoder = super::Decoder::new(super::ChunkDecoder::default(), 2 << 20);
    let mut events = std::collections::VecDeque::new();
    decoder.push(stream.as_bytes(), &mut events).unwrap();
    decoder.end(&mut events).unwrap();
    assert!(
        matches!(
            &events.make_contiguous()[..],
            [
                Text(_),
                ModelEvent::Unreadable {
                    what: UnreadableContent::TooLarge(_),
                    ..
                },
                Finished(_)
            ]
        ),
        "{events:?}"
    );
}

#[test]
fn xai_counts_thinking_apart_from_the_output() {
    for (prompt, completion, thinking, total, output) in [
        // xAI.
        (32, 9, 100, 141, 109),
        // OpenAI.
        (32, 109, 100, 141, 109),
        (32, 109, 0, 141, 109),
        // Without a total.
        (32, 109, 100, 0, 109),
    ] {
        let usage = json!({
            "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total,
            "completion_tokens_details": { "reasoning_tokens": thinking },
        });
        let usage: super::super::wire::Usage = serde_json::from_value(usage).unwrap();
        assert_eq!(usage.output_tokens(), output, "{usage:?}");
    }
}
