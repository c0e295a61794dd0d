//! The sources of an answer: those that the model server names, and those that the model writes.

use super::*;
use crate::protocol::Source;

#[test]
fn only_what_a_tool_has_had_is_a_source() {
    let metadata = r#"It is so.
<!-- METADATA:
{"sources": [{"title": "A", "url": "https://a.example/1"}, {"title": "B", "url": "https://made.up/"},
 {"title": "C", "url": "javascript:alert(1)"}]}
-->"#;
    let found = having_found("1. https://a.example/1 javascript:alert(1)");
    let answer = answered(found, &[metadata], FINISHED);
    assert_eq!(answer.text(), "It is so.");
    let urls: Vec<&str> = answer.sources.iter().map(|source| source.url.as_str()).collect();
    assert_eq!(urls, ["https://a.example/1"]);
}

#[test]
fn an_address_that_hides_another_is_no_source() {
    let urls = [
        "https://a.example/1",
        "xhttps://a.example/2",
        "https://a.example/3 4",
        "https://a\u{202e}.example/5",
        "https://bank.example@evil.example/",
    ];
    let list = urls.map(|url| format!("{{\"url\": {}}}", serde_json::to_string(url).unwrap()));
    let metadata = format!("So.\n<!-- METADATA: {{\"sources\": [{}]}} -->", list.join(", "));
    let found = having_found(&format!(
        "https://evil.example/?u=https://a.example/1\n{}",
        urls[1..].join("\n")
    ));
    assert_eq!(answered(found, &[&metadata], FINISHED).sources, []);
    let found = having_found(&urls.join("\n"));
    let sources = answered(found, &[&metadata], FINISHED).sources;
    assert_eq!(sources.len(), 1, "{sources:?}");
    assert_eq!(sources[0].url, urls[0]);
}

#[test]
fn what_only_the_model_named_is_no_source() {
    let metadata = r#"<!-- METADATA: {"sources": [{"title": "A", "url": "https://a.example/1"}]} -->"#;
    let mut failed = having_found("https://a.example/1 was not found");
    for call in failed.tool_calls_mut() {
        call.status = ToolStatus::Failed;
    }
    assert_eq!(answered(failed, &["So.\n", metadata], FINISHED).sources, []);
}

fn sourced(message: AssistantMessage, events: Vec<ModelEvent>) -> Vec<(usize, String)> {
    let mut agent = Agent::new(message, Arc::new(NoTools), Arc::new(Tables), terms(5));
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
fn sources_of_the_server_keep_their_numbers() {
    let source = |number, url: &str| Source {
        number,
        title: String::new(),
        url: url.into(),
    };
    let given = ModelEvent::Sources(vec![
        source(1, "https://a.example/1"),
        source(2, "javascript:alert(1)"),
        source(3, "https://c.example/3"),
    ]);
    let text = |text: &str| ModelEvent::Text(text.into());
    let expected = vec![
        (1, "https://a.example/1".into()),
        (3, "https://c.example/3".into()),
    ];
    let new = || AssistantMessage::started("x/m");
    assert_eq!(
        sourced(new(), vec![given.clone(), text("Whales sing[3].")]),
        expected
    );
    // The model's own list does not displace them.
    let written =
        "Hi\n\n{\"sources\": [{\"url\": \"https://x.example\"}, {\"url\": \"https://y.example/p\"}]}";
    let mut both = expected.clone();
    both.push((2, "https://y.example/p".into()));
    assert_eq!(
        sourced(
            having_found("See https://y.example/p"),
            vec![given, text(written)]
        ),
        both
    );
}

/// Something that names sources, or the next call of the model. Addresses are told apart by their places.
#[derive(Clone, Debug)]
enum Naming {
    ByServer(Vec<(usize, usize)>),
    InText(Vec<usize>),
    NextCall,
}

fn naming() -> impl Strategy<Value = Naming> {
    prop_oneof![
        prop::collection::vec((1..7_usize, 0..7_usize), 0..5).prop_map(Naming::ByServer),
        prop::collection::vec(0..7_usize, 0..5).prop_map(Naming::InText),
        Just(Naming::NextCall),
    ]
}

#[test]
fn a_source_of_an_earlier_turn_counts() {
    let written = format!(
        "Hi\n\n{{\"sources\": [{{\"url\": \"{EARLIER}\"}}, {{\"url\": \"https://other.example\"}}]}}"
    );
    assert_eq!(
        sourced(AssistantMessage::started("x/m"), vec![ModelEvent::Text(written)]),
        [(1, EARLIER.to_owned())]
    );
}

properties! {
    256;

    #[test]
    fn a_source_never_changes_its_number(namings in prop::collection::vec(naming(), 0..10)) {
        let url = |place: usize| format!("https://a.example/{place}");
        let found: Vec<String> = (0..7).map(url).collect();
        let message = having_found(&found.join("\n"));
        let mut agent = Agent::new(message, Arc::new(NoTools), Arc::new(Tables), terms(20));
        agent.step(Input::Start, Timestamp(0));
        for naming in namings {
            let before = agent.message().sources.clone();
            let events = match &naming {
                Naming::ByServer(sources) => {
                    let source = |(number, place): &(usize, usize)| Source {
                        number: *number,
                        title: String::new(),
                        url: url(*place),
                    };
                    vec![ModelEvent::Sources(sources.iter().map(source).collect())]
                }
                Naming::InText(places) => {
                    let list: Vec<String> =
                        places.iter().map(|place| format!("{{\"url\": \"{}\"}}", url(*place))).collect();
                    vec![ModelEvent::Text(format!("So.\n<!-- METADATA: {{\"sources\": [{}]}} -->\n", list.join(", ")))]
                }
                Naming::NextCall => vec![
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
                let is_other = |other: &Source| other.number != source.number && other.url != source.url;
                prop_assert!(after[..at].iter().all(is_other), "{:?}", after);
            }
        }
    }
}
