//! Streams decode to the same events in any chunking.

use fuzzing::properties;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{PROVIDER_KIND, decoder::ContentDecoder};
use crate::{
    model::{
        FinishReason,
        ModelEvent::{self, Finished, Refusal, Text, Thinking, ToolArguments},
        OpaqueTarget, UnreadableContent, Usage,
    },
    protocol::{CitedSource, Opaque, RawJson},
    providers::transport::{
        decoder::DecodeError,
        testing::{self, check_chunkings, decode_cut, recorded_events, stream_of},
    },
};

const FOLDER: &str = "gemini";

const FIXTURES: [&str; 5] = [
    "google-reasoning",
    "google-stream-tool-call-arguments",
    "google-text",
    "google-tool-call",
    "google-tool-call-gemini3",
];

fn decode(bytes: &[u8]) -> (Vec<ModelEvent>, Option<DecodeError>) {
    testing::decode(ContentDecoder::default(), [bytes])
}

fn decode_chunks(chunks: &[Value]) -> (Vec<ModelEvent>, Option<DecodeError>) {
    let chunks: Vec<String> = chunks.iter().map(Value::to_string).collect();
    decode(&stream_of(&chunks, "\n"))
}

fn decode_recorded(name: &str) -> Vec<ModelEvent> {
    let (events, error) = decode(&stream_of(&recorded_events(FOLDER, name), "\n"));
    assert_eq!(error, None, "{name}");
    events
}

fn usage(input_tokens: u64, output_tokens: u64, thinking_tokens: u64) -> ModelEvent {
    ModelEvent::Usage(Usage {
        input_tokens,
        output_tokens,
        thinking_tokens,
        ..Usage::default()
    })
}

fn call(index: usize, id: &str, name: &str) -> ModelEvent {
    let (id, name) = (id.into(), name.into());
    ModelEvent::ToolCall { index, id, name }
}

fn arguments(index: usize, delta: &str) -> ModelEvent {
    let delta = delta.into();
    ToolArguments { index, delta }
}

fn opaque(beside: OpaqueTarget, field: &str, value: &Value) -> ModelEvent {
    opaque_text(beside, field, &value.to_string())
}

fn opaque_text(beside: OpaqueTarget, field: &str, value: &str) -> ModelEvent {
    let data = Opaque {
        kind: PROVIDER_KIND.into(),
        field: field.into(),
        value: RawJson::parse_or_quote(value),
    };
    ModelEvent::Opaque { beside, data }
}

/// Returns a chunk with this content.
fn chunk(content: Value) -> Value {
    json!({ "candidates": [{ "content": content, "index": 0 }] })
}

fn end(reason: &str) -> Value {
    json!({ "candidates": [{ "finishReason": reason }] })
}

const STOP: ModelEvent = Finished(FinishReason::Stop);

#[test]
fn decodes_recorded_streams_in_any_chunking() {
    check_chunkings(FOLDER, &FIXTURES, ContentDecoder::default);
}

properties! {
    64;

    #[test]
    fn decodes_recorded_streams_cut_at_random(
        name in prop::sample::select(&FIXTURES[..]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
    ) {
        let decoded = decode_cut(FOLDER, name, ContentDecoder::default(), &cuts);
        prop_assert_eq!(decoded, (decode_recorded(name), None));
    }
}

#[test]
fn decodes_recorded_texts_with_their_signature() {
    for (name, expected, counts) in [
        (
            "google-text",
            "There are **3** \"r\"s in strawberry.\n\nst**r**awbe**rr**y",
            usage(9, 208, 185),
        ),
        (
            "google-reasoning",
            "There are **3** \"r\"s in strawberry.\n\nHere is the breakdown: st**r**awbe**rr**y.",
            usage(9, 285, 256),
        ),
    ] {
        let events = decode_recorded(name);
        let [Text(text), ModelEvent::Opaque { beside, data }, last, finished] = events.as_slice() else {
            panic!("{name}: {events:?}")
        };
        assert_eq!(
            (text.as_str(), beside),
            (expected, &OpaqueTarget::Answer),
            "{name}"
        );
        let kept: Value = serde_json::from_str(data.value.as_str()).unwrap();
        assert_eq!(kept[0][0], json!(expected.len()), "{name}");
        assert!(
            kept[1]["thoughtSignature"].as_str().unwrap().starts_with('E'),
            "{name}"
        );
        assert_eq!((last, finished), (&counts, &STOP), "{name}");
    }
}

#[test]
fn decodes_recorded_calls_with_their_signatures() {
    for name in ["google-tool-call", "google-tool-call-gemini3"] {
        let events = decode_recorded(name);
        let [begin, ModelEvent::Opaque { beside, data }, made, _, finished] = events.as_slice() else {
            panic!("{name}: {events:?}")
        };
        assert_eq!(begin, &call(0, "call_0", "weather"), "{name}");
        assert_eq!(beside, &OpaqueTarget::ToolCall(0), "{name}");
        assert_eq!(data.field, "thoughtSignature", "{name}");
        assert_eq!(made, &arguments(0, "{\"location\":\"San Francisco\"}"), "{name}");
        assert_eq!(finished, &Finished(FinishReason::ToolCalls), "{name}");
    }
    let events = decode_recorded("google-stream-tool-call-arguments");
    let calls: Vec<&ModelEvent> = events
        .iter()
        .filter(|event| !matches!(event, ModelEvent::Opaque { .. }))
        .collect();
    assert_eq!(
        calls,
        [
            &call(0, "call_0", "getWeather"),
            &arguments(0, "{\"location\":\"Boston\"}"),
            &call(1, "call_1", "getWeather"),
            &arguments(1, "{\"location\":\"San Francisco\"}"),
            &usage(26, 155, 132),
            &Finished(FinishReason::ToolCalls),
        ]
    );
}

#[test]
fn reads_content_in_every_form() {
    for content in [
        json!("Hi"),
        json!(["H", { "type": "text", "text": "i", "extras": {} }]),
        json!([{ "type": "text", "text": "Hi" }]),
        json!({ "type": "text", "text": "Hi" }),
        json!({ "role": "model", "parts": [{ "text": "H" }, { "text": "i" }] }),
        json!({ "parts": { "text": "Hi" } }),
        json!({ "parts": "Hi" }),
    ] {
        let expected = (vec![Text("Hi".into()), STOP], None);
        assert_eq!(
            decode_chunks(&[chunk(content.clone()), end("STOP")]),
            expected,
            "{content}"
        );
    }
    for content in [
        json!({ "role": "model" }),
        json!({}),
        json!(null),
        json!({ "parts": [] }),
    ] {
        assert_eq!(
            decode_chunks(&[chunk(content.clone()), end("STOP")]),
            (vec![STOP], None),
            "{content}"
        );
    }
}

#[test]
fn separates_thoughts_from_text() {
    for thought in [
        json!({ "text": "Hm.", "thought": true }),
        json!({ "type": "thinking", "thinking": "Hm." }),
    ] {
        let content = json!({ "parts": [thought, { "text": "Hi" }] });
        assert_eq!(
            decode_chunks(&[chunk(content), end("STOP")]),
            (vec![Thinking("Hm.".into()), Text("Hi".into()), STOP], None)
        );
    }
}

#[test]
fn keeps_ids_and_signatures_of_parallel_calls() {
    let parts = json!([
        { "text": "One" }, { "text": "Two", "thoughtSignature": "s0" },
        { "functionCall": { "id": "f1", "name": "look", "args": { "b": 1, "a": 2 } }, "thoughtSignature": "s1" },
        { "functionCall": { "id": "f2", "name": "listen" } },
    ]);
    let target = OpaqueTarget::ToolCall;
    assert_eq!(
        decode_chunks(&[chunk(json!({ "parts": parts })), end("STOP")]),
        (
            vec![
                Text("OneTwo".into()),
                opaque_text(
                    OpaqueTarget::Answer,
                    "blocks",
                    "[[3,\"One\"],[3,\"Two\"],{\"thoughtSignature\":\"s0\",\"hasText\":true}]"
                ),
                call(0, "f1", "look"),
                opaque(target(0), "id", &json!("f1")),
                opaque(target(0), "thoughtSignature", &json!("s1")),
                arguments(0, "{\"a\":2,\"b\":1}"),
                call(1, "f2", "listen"),
                opaque(target(1), "id", &json!("f2")),
                arguments(1, "{}"),
                Finished(FinishReason::ToolCalls),
            ],
            None
        )
    );
}

#[test]
fn names_every_finish_reason() {
    for (reason, expected) in [
        ("STOP", FinishReason::Stop),
        ("MAX_TOKENS", FinishReason::Length),
        ("SAFETY", FinishReason::Safety),
        ("RECITATION", FinishReason::ContentFilter),
        ("PROHIBITED_CONTENT", FinishReason::ContentFilter),
        ("MALFORMED_FUNCTION_CALL", FinishReason::MalformedFunctionCall),
    ] {
        let (mut events, error) = decode_chunks(&[end(reason)]);
        events.retain(|event| !matches!(event, Refusal(_)));
        assert_eq!((events, error), (vec![Finished(expected)], None), "{reason}");
    }
}

#[test]
fn explains_withheld_answers() {
    let rating =
        json!({ "category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": true });
    let low = json!({ "category": "HARM_CATEGORY_HARASSMENT", "probability": "LOW" });
    let refusal = |chunk: Value| {
        let (events, _) = decode_chunks(&[chunk]);
        events.into_iter().find_map(|event| match event {
            Refusal(explanation) => Some(explanation),
            _ => None,
        })
    };
    let ended = |reason: &str, message: &str, ratings: &Value| {
        refusal(
            json!({ "candidates": [{ "finishReason": reason, "finishMessage": message, "safetyRatings": ratings }] }),
        )
    };
    let ratings = json!([rating, low]);
    assert_eq!(ended("SAFETY", "", &ratings).unwrap(), "dangerous content");
    assert_eq!(
        ended("SAFETY", "It is unsafe.", &ratings).unwrap(),
        "It is unsafe."
    );
    assert_eq!(ended("SAFETY", "", &json!([])), None);
    assert_eq!(ended("RECITATION", "", &json!(null)).unwrap(), "recitation");
    assert_eq!(ended("STOP", "", &ratings), None);
    let blocked = json!({ "promptFeedback": { "blockReason": "SAFETY", "safetyRatings": ratings } });
    assert_eq!(
        refusal(blocked).unwrap(),
        "The prompt was blocked: dangerous content."
    );
}

#[test]
fn ends_a_blocked_prompt() {
    for (reason, expected) in [
        ("SAFETY", FinishReason::Safety),
        ("BLOCKLIST", FinishReason::ContentFilter),
        ("OTHER", FinishReason::ContentFilter),
    ] {
        let blocked = json!({ "promptFeedback": { "blockReason": reason }, "usageMetadata": { "promptTokenCount": 4 } });
        let words = reason.to_lowercase();
        let explained = Refusal(format!("The prompt was blocked: {words}."));
        assert_eq!(
            decode_chunks(&[blocked]),
            (vec![explained, usage(4, 0, 0), Finished(expected)], None),
            "{reason}"
        );
    }
}

#[test]
fn reports_errors_inside_a_success() {
    let error = json!({ "code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE" });
    let expected = Some(DecodeError::ServerError(error.clone()));
    let whole = json!({ "error": error });
    assert_eq!(
        decode_chunks(std::slice::from_ref(&whole)),
        (vec![], expected.clone())
    );
    let begun = decode_chunks(&[chunk(json!("Hi")), whole.clone()]);
    assert_eq!(begun, (vec![Text("Hi".into())], expected.clone()));
    for body in [whole.to_string(), json!([whole]).to_string()] {
        assert_eq!(decode(body.as_bytes()), (vec![], expected.clone()), "{body}");
    }
}

#[test]
fn reads_unstreamed_responses() {
    let first = chunk(json!({ "parts": [{ "text": "Hello" }] }));
    for body in [json!([first, end("MAX_TOKENS")]).to_string(), {
        let mut whole = first.clone();
        whole["candidates"][0]["finishReason"] = json!("MAX_TOKENS");
        whole.to_string()
    }] {
        let expected = vec![Text("Hello".into()), Finished(FinishReason::Length)];
        assert_eq!(decode(body.as_bytes()), (expected, None), "{body}");
    }
}

#[test]
fn reports_broken_streams() {
    assert_eq!(
        decode_chunks(&[chunk(json!("Hi"))]),
        (vec![Text("Hi".into())], Some(DecodeError::Incomplete))
    );
    let foreign = json!({ "type": "message_start", "message": {} });
    assert_eq!(
        decode_chunks(&[foreign]).1,
        Some(DecodeError::UnsupportedProtocol("Anthropic's Messages"))
    );
    assert_eq!(
        decode(b"data: {\"cand\n\n").1,
        Some(DecodeError::InvalidFrame("{\"cand".into()))
    );
    assert_eq!(decode(b": wait\n\n").1, Some(DecodeError::Empty));
}

#[test]
fn names_images_and_unknown_parts() {
    let image = json!({ "inlineData": { "mimeType": "image/png", "data": "AAAA" } });
    let video = json!({ "videoMetadata": { "fps": 1 } });
    let thought = json!({ "inlineData": { "mimeType": "image/png", "data": "AAAA" }, "thought": true });
    let parts = json!([image, image, video, video, thought]);
    let (events, error) = decode_chunks(&[chunk(json!({ "parts": parts })), end("STOP")]);
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
            UnreadableContent::Image,
            UnreadableContent::Image,
            UnreadableContent::Unknown("videoMetadata".into())
        ]
    );
}

#[test]
fn lists_grounding_as_sources() {
    let page = |uri: &str| json!({ "web": { "uri": uri, "title": "T" } });
    let metadata = json!({ "groundingChunks": [page("https://a.example"), page("https://a.example"), {}] });
    let last = json!({ "candidates": [{ "finishReason": "STOP", "groundingMetadata": metadata }] });
    let source = CitedSource {
        number: 1,
        title: "T".into(),
        url: "https://a.example".into(),
    };
    assert_eq!(
        decode_chunks(&[last]),
        (vec![ModelEvent::Sources(vec![source]), STOP], None)
    );
}

#[test]
fn reports_abnormal_ends() {
    for reason in ["OTHER", "LANGUAGE", "MALFORMED_RESPONSE", "FROM_THE_FUTURE"] {
        let mut last = end(reason);
        last["usageMetadata"] = json!({ "promptTokenCount": 4 });
        let (events, error) = decode_chunks(&[chunk(json!("Hi")), last]);
        assert_eq!(events, [Text("Hi".into()), usage(4, 0, 0)], "{reason}");
        let Some(DecodeError::ServerError(Value::String(error))) = error else {
            panic!("{reason}: {error:?}")
        };
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn chooses_the_first_candidate_with_content() {
    let candidate = |index: u64, text: &str| json!({ "content": text, "index": index });
    let events = [
        json!({ "candidates": [{ "index": 0 }] }),
        json!({ "candidates": [candidate(1, "Hi"), candidate(2, "Ho")] }),
        json!({ "candidates": [{ "index": 1, "finishReason": "STOP" }] }),
    ];
    let (events, error) = decode_chunks(&events);
    assert_eq!(error, None);
    assert!(
        matches!(
            events.as_slice(),
            [
                Text(text),
                ModelEvent::Unreadable { what: UnreadableContent::Unknown(name), .. },
                Finished(FinishReason::Stop),
            ] if text == "Hi" && name == "candidate 2"
        ),
        "{events:?}"
    );
}

#[test]
fn keeps_unknown_parts_and_their_signatures() {
    let part = json!({ "videoMetadata": { "fps": 1 }, "thoughtSignature": "s" });
    let (events, _) = decode_chunks(&[chunk(json!([part])), end("STOP")]);
    assert_eq!(
        events,
        [
            ModelEvent::Unreadable {
                what: UnreadableContent::Unknown("videoMetadata".into()),
                raw: "{\"fps\":1}".into(),
            },
            opaque_text(
                OpaqueTarget::Answer,
                "blocks",
                "[{\"thoughtSignature\":\"s\",\"hasText\":false}]"
            ),
            STOP,
        ]
    );
}

#[test]
fn separates_tagged_thinking() {
    let events = [
        chunk(json!("<think>Hm.</thi")),
        chunk(json!("nk>\nHi")),
        end("STOP"),
    ];
    assert_eq!(
        decode_chunks(&events),
        (vec![Thinking("Hm.".into()), Text("Hi".into()), STOP], None)
    );
}

#[test]
fn drops_arguments_of_a_cut_call() {
    let part = json!({ "jsonPath": "$.text", "stringValue": "half", "willContinue": true });
    let call_part =
        json!({ "functionCall": { "name": "look", "partialArgs": [part], "willContinue": true } });
    assert_eq!(
        decode_chunks(&[chunk(json!([call_part])), end("MAX_TOKENS")]),
        (
            vec![call(0, "call_0", "look"), Finished(FinishReason::Length)],
            None
        )
    );
}

#[test]
fn ignores_odd_values_beside_the_text() {
    for odd in testing::odd_values() {
        let mut first = chunk(json!("Hi"));
        for field in [
            "safetyRatings",
            "groundingMetadata",
            "citationMetadata",
            "finishMessage",
        ] {
            first["candidates"][0][field] = odd.clone();
        }
        first["promptFeedback"] = odd.clone();
        first["usageMetadata"] =
            json!({ "promptTokenCount": odd, "candidatesTokenCount": 3, "candidatesTokensDetails": odd });
        let (events, error) = decode_chunks(&[first, end("STOP")]);
        let text: Vec<_> = events.iter().filter(|event| matches!(event, Text(_))).collect();
        assert_eq!((text, error), (vec![&Text("Hi".into())], None), "{odd}");
        assert!(events.contains(&usage(0, 3, 0)), "{odd}: {events:?}");
    }
}
