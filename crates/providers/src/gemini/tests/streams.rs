//! The order, the ends and the errors of streams.

use super::*;

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
    let target = ProviderDataTarget::ToolCall;
    assert_eq!(
        decode_chunks(&[chunk(json!({ "parts": parts })), end("STOP")]),
        (
            vec![
                Text("OneTwo".into()),
                provider_data_text(
                    ProviderDataTarget::Answer,
                    "blocks",
                    "[[3,\"One\"],[3,\"Two\"],{\"thoughtSignature\":\"s0\",\"hasText\":true}]"
                ),
                call(0, "f1", "look"),
                provider_data(target(0), "id", &json!("f1")),
                provider_data(target(0), "thoughtSignature", &json!("s1")),
                arguments(0, "{\"a\":2,\"b\":1}"),
                call(1, "f2", "listen"),
                provider_data(target(1), "id", &json!("f2")),
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
fn lists_grounding_as_sources() {
    let page = |uri: &str| json!({ "web": { "uri": uri, "title": "T" } });
    let metadata = json!({ "groundingChunks": [page("https://a.example"), page("https://a.example"), {}] });
    let last = json!({ "candidates": [{ "finishReason": "STOP", "groundingMetadata": metadata }] });
    let source = CitedSource {
        number: 1,
        title: "T".into(),
        url: "https://a.example".into(),
        passage: None,
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
fn reads_odd_json() {
    testing::check_odd_json(
        ContentDecoder::default,
        &[],
        &[r#"{"candidates":[{"finishReason":"STOP"}]}"#],
        [
            |delta| format!(r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{delta}"}}]}}}}]}}"#),
            |delta| {
                format!(
                    r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{delta}","thought":true}}]}}}}]}}"#
                )
            },
        ],
        None,
    );
}

#[test]
fn reads_odd_json_in_calls() {
    let parts =
        |call: &str| format!(r#"{{"candidates":[{{"content":{{"parts":[{{"functionCall":{call}}}]}}}}]}}"#);
    let end = r#"{"candidates":[{"finishReason":"STOP"}]}"#;
    let calls = |calls: &[&str]| {
        let mut events: Vec<String> = calls.iter().map(|call| parts(call)).collect();
        events.push(end.into());
        let (events, error) = testing::decode_texts(ContentDecoder::default(), &events);
        assert_eq!(error, None, "{calls:?}");
        events.into_iter().find_map(|event| match event {
            ModelEvent::ToolArguments { delta, .. } => serde_json::from_str::<Value>(&delta).ok(),
            _ => None,
        })
    };
    let whole = "{\"name\":\"one\",\"args\":{\"code\":\"x\ty\\ud83d\",\"n\":NaN}}";
    assert_eq!(
        calls(&[whole]),
        Some(json!({ "code": "x\ty\u{fffd}", "n": null }))
    );
    let streamed = [
        r#"{"name":"one","willContinue":true}"#,
        r#"{"partialArgs":[{"jsonPath":"$.a","stringValue":"\ud83d"}],"willContinue":true}"#,
        r#"{"partialArgs":[{"jsonPath":"$.a","stringValue":"\ude00"}]}"#,
    ];
    assert_eq!(calls(&streamed), Some(json!({ "a": "😀" })));
}

#[test]
fn keeps_the_usage_of_a_failed_answer() {
    let mut said = chunk(json!({ "parts": [{ "text": "Hi" }] }));
    said["usageMetadata"] = json!({ "promptTokenCount": 5, "candidatesTokenCount": 2 });
    let error = json!({ "message": "no" });
    for (tail, fault) in [
        (
            vec![json!({ "error": error })],
            DecodeError::ServerError(error.clone()),
        ),
        (vec![], DecodeError::Incomplete),
    ] {
        let chunks = [vec![said.clone()], tail].concat();
        let expected = vec![Text("Hi".into()), usage(5, 2, 0)];
        assert_eq!(decode_chunks(&chunks), (expected, Some(fault)));
    }
}
