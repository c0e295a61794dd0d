//! Faults of servers: invalid JSON, and errors in a stream.

use serde_json::json;

use super::{
    super::decoder::ChunkDecoder,
    decode,
    synthetic::{delta, events_of},
};
use crate::{
    DEFAULT_MAX_FRAME_BYTES,
    transport::{decoder::DecodeError, testing},
};
use parlor_model::{
    FinishReason,
    ModelEvent::{Finished, Text, Thinking},
};

#[test]
fn reads_odd_json() {
    testing::check_odd_json(
        ChunkDecoder::default,
        &[r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"one"}}]}}]}"#],
        &[r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#],
        [
            |delta| format!(r#"{{"choices":[{{"delta":{{"content":"{delta}"}}}}]}}"#),
            |delta| format!(r#"{{"choices":[{{"delta":{{"reasoning_content":"{delta}"}}}}]}}"#),
        ],
        Some(|delta| {
            format!(
                r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":"{delta}"}}}}]}}}}]}}"#
            )
        }),
    );
    // A repeated field, and one chunk in a list.
    let chunks = [
        r#"{"choices":[{"delta":{"content":"a","content":null},"logprobs":-Infinity}]}"#,
        r#"[{"choices":[{"delta":{"content":"b"}}]}]"#,
        "[DONE]",
    ];
    let expected = vec![Text("ab".into()), Finished(FinishReason::Stop)];
    assert_eq!(
        testing::decode_texts(ChunkDecoder::default(), &chunks),
        (expected.clone(), None)
    );
    // Raw line ends, which end the line of the event.
    let chunks = [
        chunks[0],
        "{\"choices\":[{\"delta\":{\"content\":\"b\n\tc: d\"}}]}",
        "[DONE]",
    ];
    let expected = vec![Text("ab\n\tc: d".into()), Finished(FinishReason::Stop)];
    assert_eq!(
        testing::decode_texts(ChunkDecoder::default(), &chunks),
        (expected, None)
    );
    let whole = "{\"choices\":[{\"message\":{\"content\":\"a\nb\\ud83d\"},\"logprobs\":NaN,\"finish_reason\":\"stop\"}]}";
    let expected = vec![Text("a\nb\u{fffd}".into()), Finished(FinishReason::Stop)];
    assert_eq!(decode([whole.as_bytes()]), (expected, None));
}

#[test]
fn keeps_held_thinking_of_failed_answers() {
    let chunks = [
        delta(json!({"content": "Hel"})),
        delta(json!({"reasoning_content": " so"})),
    ];
    let chunks: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    let kept = [Text("Hel".into()), Thinking(" so".into())];
    let too_long = format!("data: {}", "x".repeat(DEFAULT_MAX_FRAME_BYTES + 1));
    for (rest, error) in [
        ("data: {oops\n\n", Some(DecodeError::invalid_frame("{oops"))),
        (
            "event: error\ndata: no\n\n",
            Some(DecodeError::ServerError("no".into())),
        ),
        (
            too_long.as_str(),
            Some(DecodeError::FrameTooLong(DEFAULT_MAX_FRAME_BYTES)),
        ),
        ("", Some(DecodeError::Incomplete)),
    ] {
        let (events, fault) = decode([chunks.as_bytes(), rest.as_bytes()]);
        assert_eq!((events.as_slice(), fault), (kept.as_slice(), error));
    }
}

#[test]
fn keeps_the_words_of_errors_and_the_usage() {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}});
    let hi = delta(json!({"content": "Hi"}));
    for error in [
        json!({"detail": "no"}),
        json!({"detail": [{"loc": ["body"], "msg": "no"}]}),
        json!([{"error": {"message": "no"}}]),
        json!({"object": "error", "message": "no", "code": 400}),
    ] {
        let (events, fault) = events_of(&[hi.clone(), usage.clone(), error.clone()]);
        assert_eq!(events, [Text("Hi".into()), testing::usage(5, 2, 0)], "{error}");
        let told = error.pointer("/0/error").unwrap_or(&error).clone();
        assert_eq!(fault, Some(DecodeError::ServerError(told)));
        // Also if it is all.
        let whole = error.to_string();
        assert_eq!(
            decode([whole.as_bytes()]).1,
            Some(DecodeError::ServerError(error))
        );
    }
    let inner = json!({"message": "no", "code": 502});
    let chunk = json!({"choices": [{"delta": {"content": "!"}, "finish_reason": "error", "error": inner}]});
    let (events, fault) = events_of(&[hi.clone(), usage.clone(), chunk]);
    assert_eq!(events, [Text("Hi!".into()), testing::usage(5, 2, 0)]);
    assert_eq!(fault, Some(DecodeError::ServerError(inner)));
    let (events, fault) = events_of(&[hi, usage]);
    assert_eq!(events, [Text("Hi".into()), testing::usage(5, 2, 0)]);
    assert_eq!(fault, Some(DecodeError::Incomplete));
}
