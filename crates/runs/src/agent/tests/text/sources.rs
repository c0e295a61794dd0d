//! The sources of an answer: those that the model server lists, and those that the model writes.

use super::*;
use parlor_protocol::CitedSource;

#[test]
fn accepts_only_sources_from_tools() {
    let metadata = r#"It is so.
<!-- METADATA:
{"sources": [{"title": "A", "url": "https://a.example/1"}, {"title": "B", "url": "https://made.up/"},
 {"title": "C", "url": "javascript:alert(1)"}]}
-->"#;
    let found = message_with_tool_output("1. https://a.example/1 javascript:alert(1)");
    let answer = play_message(found, &[metadata], FINISHED);
    assert_eq!(answer.text(), "It is so.");
    let urls: Vec<&str> = answer.sources.iter().map(|source| source.url.as_str()).collect();
    assert_eq!(urls, ["https://a.example/1"]);
}

#[test]
fn rejects_a_disguised_url() {
    let urls = [
        "https://a.example/1",
        "xhttps://a.example/2",
        "https://a.example/3 4",
        "https://a\u{202e}.example/5",
        "https://bank.example@evil.example/",
    ];
    let list = urls.map(|url| format!("{{\"url\": {}}}", serde_json::to_string(url).unwrap()));
    let metadata = format!("So.\n<!-- METADATA: {{\"sources\": [{}]}} -->", list.join(", "));
    let found = message_with_tool_output(&format!(
        "https://evil.example/?u=https://a.example/1\n{}",
        urls[1..].join("\n")
    ));
    assert_eq!(play_message(found, &[&metadata], FINISHED).sources, []);
    let found = message_with_tool_output(&urls.join("\n"));
    let sources = play_message(found, &[&metadata], FINISHED).sources;
    assert_eq!(sources.len(), 1, "{sources:?}");
    assert_eq!(sources[0].url, urls[0]);
}

#[test]
fn rejects_sources_named_only_by_model() {
    let metadata = r#"<!-- METADATA: {"sources": [{"title": "A", "url": "https://a.example/1"}]} -->"#;
    let mut failed = message_with_tool_output("https://a.example/1 was not found");
    for call in failed.tool_calls_mut() {
        call.status = ToolStatus::Failed;
    }
    assert_eq!(play_message(failed, &["So.\n", metadata], FINISHED).sources, []);
}

#[test]
fn rejects_sources_printed_by_other_tools() {
    let metadata = r#"<!-- METADATA: {"sources": [{"title": "A", "url": "https://a.example/1"}]} -->"#;
    let mut printed = message_with_tool_output("https://a.example/1");
    for call in printed.tool_calls_mut() {
        call.tool = "jupyter_notebook".into();
    }
    assert_eq!(play_message(printed, &["So.\n", metadata], FINISHED).sources, []);
}

fn sources_of(message: AssistantMessage, events: Vec<ModelEvent>) -> Vec<(usize, String)> {
    let mut agent = Agent::new(message, Arc::new(NoTools), Arc::new(TablePage), limits(5));
    agent.step(Input::Start, Timestamp(0));
    for event in events {
        agent.step(Input::Model(event), Timestamp(0));
    }
    agent.step(FINISHED, Timestamp(0));
    let sources = agent.message().sources.iter();
    sources
        .map(|source| (source.number, source.url.clone()))
        .collect()
}

#[test]
fn keeps_server_source_numbers() {
    let source = |number, url: &str| CitedSource {
        number,
        title: String::new(),
        url: url.into(),
        passage: None,
    };
    let server_sources = ModelEvent::Sources(vec![
        source(1, "https://a.example/1"),
        source(2, "javascript:alert(1)"),
        source(3, "https://c.example/3"),
    ]);
    let text = |text: &str| ModelEvent::Text(text.into());
    let expected = vec![
        (1, "https://a.example/1".into()),
        (3, "https://c.example/3".into()),
    ];
    let new = || AssistantMessage::new("x/m");
    assert_eq!(
        sources_of(new(), vec![server_sources.clone(), text("Whales sing[3].")]),
        expected
    );
    // The model's own list does not replace them.
    let answer_text =
        "Hi\n\n{\"sources\": [{\"url\": \"https://x.example\"}, {\"url\": \"https://y.example/p\"}]}";
    let mut both = expected.clone();
    both.push((2, "https://y.example/p".into()));
    assert_eq!(
        sources_of(
            message_with_tool_output("See https://y.example/p"),
            vec![server_sources, text(answer_text)]
        ),
        both
    );
}

#[test]
fn source_numbers_have_no_gaps() {
    let source = |number, title: &str, url: &str| CitedSource {
        number,
        title: title.into(),
        url: url.into(),
        passage: None,
    };
    let first = ModelEvent::Sources(vec![
        source(1, "", "https://a.example/1"),
        source(2, "", "https://b.example/2"),
    ]);
    // Of another call: one is known, two can't be shown, and a document has no URL.
    let second = ModelEvent::Sources(vec![
        source(1, "plan.pdf", ""),
        source(2, "", "https://b.example/2"),
        source(3, "", "https://c.example/3"),
        source(4, "", "javascript:alert(1)"),
        source(5, "", "https://a.example/1"),
        source(6, "", ""),
    ]);
    assert_eq!(
        sources_of(AssistantMessage::new("x/m"), vec![first, second]),
        [
            (1, "https://a.example/1".into()),
            (2, "https://b.example/2".into()),
            (4, String::new()),
            (3, "https://c.example/3".into()),
        ]
    );
}

/// An event with sources, or the next model call. The numbers stand for URLs.
#[derive(Clone, Debug)]
enum SourceEvent {
    ByServer(Vec<(usize, usize)>),
    InText(Vec<usize>),
    NextCall,
}

fn source_event() -> impl Strategy<Value = SourceEvent> {
    prop_oneof![
        prop::collection::vec((1..7_usize, 0..7_usize), 0..5).prop_map(SourceEvent::ByServer),
        prop::collection::vec(0..7_usize, 0..5).prop_map(SourceEvent::InText),
        Just(SourceEvent::NextCall),
    ]
}

#[test]
fn accepts_sources_of_earlier_turns() {
    let answer_text = format!(
        "Hi\n\n{{\"sources\": [{{\"url\": \"{EARLIER_URL}\"}}, {{\"url\": \"https://other.example\"}}]}}"
    );
    assert_eq!(
        sources_of(AssistantMessage::new("x/m"), vec![ModelEvent::Text(answer_text)]),
        [(1, EARLIER_URL.to_owned())]
    );
}

properties! {
    256;

    #[test]
    fn source_numbers_never_change(namings in prop::collection::vec(source_event(), 0..10)) {
        let url = |place: usize| format!("https://a.example/{place}");
        let found: Vec<String> = (0..7).map(url).collect();
        let message = message_with_tool_output(&found.join("\n"));
        let mut agent = Agent::new(message, Arc::new(NoTools), Arc::new(TablePage), limits(20));
        agent.step(Input::Start, Timestamp(0));
        for naming in namings {
            let before = agent.message().sources.clone();
            let events = match &naming {
                SourceEvent::ByServer(sources) => {
                    let source = |(number, place): &(usize, usize)| CitedSource {
                        number: *number,
                        title: String::new(),
                        url: url(*place),
                        passage: None,
                    };
                    vec![ModelEvent::Sources(sources.iter().map(source).collect())]
                }
                SourceEvent::InText(places) => {
                    let list: Vec<String> =
                        places.iter().map(|place| format!("{{\"url\": \"{}\"}}", url(*place))).collect();
                    vec![ModelEvent::Text(format!("So.\n<!-- METADATA: {{\"sources\": [{}]}} -->\n", list.join(", ")))]
                }
                SourceEvent::NextCall => vec![
                    ModelEvent::ToolCall { index: 0, id: "a".into(), name: "none".into() },
                    ModelEvent::Finished(FinishReason::ToolCalls),
                ],
            };
            for event in events {
                agent.step(Input::Model(event), Timestamp(0));
            }
            let after = &agent.message().sources;
            prop_assert!(after.starts_with(&before), "{:?}: {:?} -> {:?}", naming, before, after);
            for (at, source) in after.iter().enumerate() {
                let is_other = |other: &CitedSource| other.number != source.number && other.url != source.url;
                prop_assert!(after[..at].iter().all(is_other), "{:?}", after);
            }
        }
    }
}
