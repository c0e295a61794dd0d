//! Recorded streams of real servers.

use fuzzing::properties;
use proptest::prelude::*;

use super::*;

const FOLDER: &str = "anthropic";

const FIXTURES: [&str; 9] = [
    "anthropic-clear-thinking.1",
    "anthropic-fallback",
    "anthropic-json-tool.1",
    "anthropic-message-delta-input-tokens",
    "anthropic-refusal",
    "anthropic-text",
    "anthropic-tool-no-args",
    "anthropic-web-search-tool.1",
    "duplicate-message-start",
];

fn decode_recorded(name: &str) -> Vec<ModelEvent> {
    let (events, error) = testing::decode_recorded(FOLDER, name, MessageDecoder::default());
    assert_eq!(error, None, "{name}");
    events
}

#[test]
fn decodes_recorded_streams_in_any_chunking() {
    check_chunkings(FOLDER, &FIXTURES, MessageDecoder::default);
}

properties! {
    64;

    #[test]
    fn decodes_recorded_streams_cut_at_random(
        name in prop::sample::select(&FIXTURES[..]),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
    ) {
        let decoded = decode_cut(FOLDER, name, MessageDecoder::default(), &cuts);
        prop_assert_eq!(decoded, (decode_recorded(name), None));
    }
}

#[test]
fn decodes_recorded_texts() {
    for (name, begin, counts, reason) in [
        (
            "anthropic-fallback",
            Some("The printing press"),
            usage(412, 264),
            FinishReason::Stop,
        ),
        (
            "anthropic-message-delta-input-tokens",
            Some("pong"),
            usage(61, 2),
            FinishReason::Stop,
        ),
        ("anthropic-refusal", None, usage(18, 5), FinishReason::Refusal),
        (
            "duplicate-message-start",
            Some("Hello, World!"),
            usage(17, 227),
            FinishReason::Stop,
        ),
    ] {
        let events = decode_recorded(name);
        let (text, rest) = match events.as_slice() {
            [Text(text), rest @ ..] => (Some(text.as_str()), rest),
            rest => (None, rest),
        };
        let rest = match rest {
            [ModelEvent::Refusal(explanation), rest @ ..] => {
                assert!(
                    explanation.starts_with("This request triggered restrictions"),
                    "{name}"
                );
                assert_eq!(reason, FinishReason::Refusal, "{name}");
                rest
            }
            rest => rest,
        };
        assert_eq!(rest, [counts, Finished(reason)], "{name}");
        match (text, begin) {
            (Some(text), Some(begin)) => assert!(text.starts_with(begin), "{name}: {text}"),
            (text, begin) => assert_eq!(text, begin, "{name}"),
        }
    }
}

#[test]
fn keeps_signed_thinking() {
    let events = decode_recorded("anthropic-clear-thinking.1");
    let [
        Thinking(thinking),
        ModelEvent::ProviderData { target, data },
        Text(text),
        counts,
        end,
    ] = events.as_slice()
    else {
        panic!("{events:?}")
    };
    assert_eq!(
        thinking,
        "The previous result was 925. Now I need to divide that by 5.\n\n925 ÷ 5 = 185"
    );
    assert_eq!(
        (target, text.as_str()),
        (&ProviderDataTarget::Answer, "925 ÷ 5 = 185")
    );
    let kept: Value = serde_json::from_str(data.value.as_str()).unwrap();
    assert_eq!(kept[0]["thinking"], *thinking);
    assert!(kept[0]["signature"].as_str().unwrap().starts_with("EvQBCkYICxgC"));
    assert_eq!((counts, end), (&usage(69, 53), &Finished(FinishReason::Stop)));
}

#[test]
fn decodes_recorded_calls() {
    let events = decode_recorded("anthropic-tool-no-args");
    assert_eq!(
        events[1..],
        [
            call(0, "toolu_01QE1WLsSVp5hy5Q3GmGTmjP", "updateIssueList"),
            arguments(0, "{}"),
            usage(565, 48),
            Finished(FinishReason::ToolCalls),
        ]
    );
    let events = decode_recorded("anthropic-json-tool.1");
    let [_, ToolArguments { delta, .. }, ..] = events.as_slice() else {
        panic!("{events:?}")
    };
    let input: Value = serde_json::from_str(delta).unwrap();
    assert_eq!(input["elements"][0]["location"], "San Francisco");
}

#[test]
fn lists_citations_of_server_tools_as_sources() {
    let events = decode_recorded("anthropic-web-search-tool.1");
    let sources = events.iter().rev().find_map(|event| match event {
        ModelEvent::Sources(sources) => Some(sources),
        _ => None,
    });
    let sources = sources.unwrap();
    assert_eq!(
        (sources[0].number, sources[0].title.as_str()),
        (
            1,
            "The all-new Apple Ginza opens this Friday, September 26, in Tokyo - Apple"
        )
    );
    assert_eq!(sources.len(), 4);
    // The search and its result are kept for the server, the search with its whole input.
    let kept: Vec<Value> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::ProviderData { data, .. } => Some(serde_json::from_str(data.value.as_str()).unwrap()),
            _ => None,
        })
        .collect();
    assert_eq!(kept.len(), 2);
    assert_eq!(
        kept[0][0]["input"],
        json!({"query": "tech news today September 26 2025"})
    );
    assert_eq!(kept[1][0]["type"], "web_search_tool_result");
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, ModelEvent::Unreadable { .. }))
    );
}
