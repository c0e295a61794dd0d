//! Recorded streams of real servers.

use fuzzing::properties;
use proptest::prelude::*;

use super::*;

const FOLDER: &str = "openai-responses";

const FIXTURES: [&str; 4] = [
    "lmstudio-tool-call.1",
    "openai-error.1",
    "openai-reasoning-encrypted-content.1",
    "openai-web-search-tool.1",
];

fn decode_recorded(name: &str) -> (Vec<ModelEvent>, Option<DecodeError>) {
    testing::decode_recorded(FOLDER, name, ResponseDecoder::default())
}

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
fn keeps_encrypted_reasoning_of_recorded_calls() {
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
        ModelEvent::ProviderData { data, .. },
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
    assert!(events.iter().any(|event| matches!(event, ModelEvent::ProviderData { data, .. } if data.value.as_str().contains("web_search_call"))));
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
