//! Odd and unstreamed forms of what a server sends.

use super::*;

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
fn names_images_and_unknown_parts() {
    let image = json!({ "inlineData": { "mimeType": "image/png", "data": "AAAA" } });
    let video = json!({ "videoMetadata": { "fps": 1 } });
    let thought = json!({ "inlineData": { "mimeType": "image/png", "data": "AAAA" }, "thought": true });
    let parts = json!([image, image, video, video, thought]);
    let (events, error) = decode_chunks(&[chunk(json!({ "parts": parts })), end("STOP")]);
    assert_eq!(error, None);
    assert_eq!(
        unreadable(&events),
        [
            &UnreadableContent::Image,
            &UnreadableContent::Image,
            &UnreadableContent::Unknown("videoMetadata".into())
        ]
    );
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
            provider_data_text(
                ProviderDataTarget::Answer,
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
fn ignores_odd_values_next_to_the_text() {
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
