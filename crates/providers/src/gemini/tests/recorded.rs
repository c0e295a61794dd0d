//! Recorded streams of real servers.

use fuzzing::properties;
use proptest::prelude::*;

use super::*;

const FOLDER: &str = "gemini";

const FIXTURES: [&str; 5] = [
    "google-reasoning",
    "google-stream-tool-call-arguments",
    "google-text",
    "google-tool-call",
    "google-tool-call-gemini3",
];

fn decode_recorded(name: &str) -> Vec<ModelEvent> {
    let (events, error) = testing::decode_recorded(FOLDER, name, ContentDecoder::default());
    assert_eq!(error, None, "{name}");
    events
}

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
        let [
            Text(text),
            ModelEvent::ProviderData { target, data },
            last,
            finished,
        ] = events.as_slice()
        else {
            panic!("{name}: {events:?}")
        };
        assert_eq!(
            (text.as_str(), target),
            (expected, &ProviderDataTarget::Answer),
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
        let [
            begin,
            ModelEvent::ProviderData { target, data },
            made,
            _,
            finished,
        ] = events.as_slice()
        else {
            panic!("{name}: {events:?}")
        };
        assert_eq!(begin, &call(0, "call_0", "weather"), "{name}");
        assert_eq!(target, &ProviderDataTarget::ToolCall(0), "{name}");
        assert_eq!(data.field, "thoughtSignature", "{name}");
        assert_eq!(made, &arguments(0, "{\"location\":\"San Francisco\"}"), "{name}");
        assert_eq!(finished, &Finished(FinishReason::ToolCalls), "{name}");
    }
    let events = decode_recorded("google-stream-tool-call-arguments");
    let calls: Vec<&ModelEvent> = events
        .iter()
        .filter(|event| !matches!(event, ModelEvent::ProviderData { .. }))
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
