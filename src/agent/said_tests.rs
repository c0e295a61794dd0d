//! What the model says besides text.

use std::sync::Arc;

use super::{tests::terms, *};
use crate::{
    pages::actions::EVERYWHERE,
    protocol::{Json, Node, RunStatus, Source, ToolCall, ToolStatus},
};
use control::Marker;
use fuzzing::properties;
use proptest::prelude::*;
use serde_json::Value;

#[derive(Debug)]
struct NoTools;

impl Toolbox for NoTools {
    fn plan(&self, tool: &str, _: &str) -> Result<Plan, String> {
        Err(format!("There is no tool {tool}."))
    }
}

/// A run that has searched and found `output`.
fn having_found(output: &str) -> AssistantMessage {
    let mut message = AssistantMessage::started("x/m");
    let call = ToolCall {
        input: Json::or_string(r#"{"query": "x"}"#),
        output: Some(output.into()),
        ..ToolCall::of("web_search", ToolStatus::Complete)
    };
    message.nodes.push(Node {
        parts: vec![Part::ToolCall(Box::new(call))],
    });
    message
}

/// An address that an earlier turn has.
const EARLIER: &str = "https://earlier.example/x";

/// A page with tables, of which not all can be kept, and one action.
#[derive(Debug)]
struct Tables;

impl Workshop for Tables {
    fn markers(&self) -> Vec<Marker> {
        vec![Marker {
            marker: "TABLE:".into(),
            kind: "table".into(),
            parse: |data| match data["rows"].is_array() {
                true => Ok(data.clone()),
                false => Err("a table has rows".into()),
            },
        }]
    }

    fn writing(&self, kind: &str) -> String {
        format!("Writing a {kind}...")
    }

    fn make(&self, kind: &str, data: Value) -> Result<Payload, String> {
        match data["rows"].as_array().map(Vec::len) {
            Some(count) if count < 10 => Ok(Payload {
                payload_id: format!("id{count}"),
                kind: kind.into(),
                summary: "Table".into(),
                data: Json::or_string(&data.to_string()),
            }),
            _ => Err("too large".into()),
        }
    }

    fn performs(&self, action: &str) -> bool {
        EVERYWHERE.iter().any(|performed| performed.name == action)
    }

    fn has_been_given(&self, url: &str) -> bool {
        url == EARLIER
    }
}

fn played(message: AssistantMessage, deltas: &[&str], end: Input) -> (Vec<Effect>, AssistantMessage) {
    let at = Timestamp(0);
    let mut agent = Agent::new(message, Arc::new(NoTools), Arc::new(Tables), terms(5));
    let mut effects = agent.step(Input::Start, at);
    for delta in deltas {
        effects.extend(agent.step(Input::Model(ModelEvent::Text((*delta).into())), at));
    }
    effects.extend(agent.step(end, at));
    (effects, agent.message().clone())
}

fn answered(message: AssistantMessage, deltas: &[&str], end: Input) -> AssistantMessage {
    played(message, deltas, end).1
}

/// What was logged and kept: texts, statuses and ids.
fn told(effects: &[Effect]) -> Vec<&str> {
    let told = effects.iter().filter_map(|effect| match effect {
        Effect::Keep(payload) => Some(payload.payload_id.as_str()),
        Effect::Log(EventBody::PayloadMade { .. }) => Some("made"),
        Effect::Log(EventBody::TextDelta { text, .. }) => Some(text),
        Effect::Log(EventBody::Status { message }) => Some(message),
        _ => None,
    });
    told.skip_while(|told| *told == "Thinking...").collect()
}

const FINISHED: Input = Input::Model(ModelEvent::Finished(FinishReason::Stop));

#[test]
fn what_is_suggested_is_no_text() {
    let deltas = [
        "Shall I?\n\nSUGGESTED_VAL",
        "UES: [{\"label\": \"Yes\", \"value\": \"Yes, please\"}]\n",
        "SUGGESTED_ACTIONS: [{\"label\": \"New\", \"action\": \"new_conversation\", \"handler\": \"client\"}]",
    ];
    let answer = answered(AssistantMessage::started("x/m"), &deltas, FINISHED);
    assert_eq!(
        (answer.text().as_str(), answer.status),
        ("Shall I?", RunStatus::Complete)
    );
    assert_eq!(answer.suggested_values[0].value, "Yes, please");
    assert_eq!(answer.suggested_actions[0].action, "new_conversation");
}

#[test]
fn only_actions_that_somebody_does_are_suggested() {
    let actions = r#"SUGGESTED_ACTIONS: [
        {"label": "New", "action": "new_conversation", "handler": "client"},
        {"label": "Wipe", "action": "format_disk", "handler": "client"},
        {"label": "Any", "action": "format_disk", "handler": "server"}]"#;
    let answer = answered(AssistantMessage::started("x/m"), &["Now?\n", actions], FINISHED);
    let labels: Vec<&str> = answer
        .suggested_actions
        .iter()
        .map(|action| action.label.as_str())
        .collect();
    assert_eq!(labels, ["New", "Any"]);
}

#[test]
fn what_is_written_for_the_panel_is_announced_once_kept_and_then_told_of() {
    let deltas = [
        "See: TABLE: {",
        "\"rows\"",
        ": [1]} and TABLE: {\"rows\": []}",
        " there.",
    ];
    let (effects, answer) = played(AssistantMessage::started("x/m"), &deltas, FINISHED);
    let expected = [
        "See:",
        "Writing a table...",
        "id1",
        "made",
        "and",
        "id0",
        "made",
        "there.",
    ];
    assert_eq!(told(&effects), expected);
    let parts: Vec<&str> = answer.nodes[0]
        .parts
        .iter()
        .map(|part| match part {
            Part::Payload { payload } => payload.payload_id.as_str(),
            other => other.text(),
        })
        .collect();
    assert_eq!(parts, ["See:", "id1", "and", "id0", "there."]);
}

#[test]
fn what_is_not_made_is_text_as_it_came() {
    for written in [
        "TABLE: {\"rows\": 1}",
        "TABLE: {\"rows\": [0,1,2,3,4,5,6,7,8,9]}",
        "TABLE: {\"rows\": [",
    ] {
        let (effects, answer) = played(AssistantMessage::started("x/m"), &["See ", written], FINISHED);
        assert_eq!(answer.text(), format!("See {written}"));
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Keep(_))));
    }
}

#[test]
fn a_text_behind_a_payload_begins_with_its_first_line() {
    for (written, text) in [
        (" and so on", "See:\n\nand so on"),
        ("\n\nAnd so on", "See:\n\nAnd so on"),
        ("\n\n    code\n", "See:\n\n    code\n"),
        ("\n\n", "See:"),
    ] {
        let said = format!("See: TABLE: {{\"rows\": []}}{written}");
        let answer = answered(AssistantMessage::started("x/m"), &[&said], FINISHED);
        assert_eq!(answer.text(), text);
    }
}

#[test]
fn an_answer_that_is_nothing_but_a_payload_is_an_answer() {
    let answer = answered(
        AssistantMessage::started("x/m"),
        &["TABLE: {\"rows\": []}"],
        FINISHED,
    );
    assert_eq!((answer.status, answer.activity), (RunStatus::Complete, None));
}

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
fn what_was_held_back_when_it_broke_off_was_on_no_screen() {
    let half = "Because.\n\nSUGGESTED_VALUES: [{\"lab";
    for end in [Input::Stop, Input::BrokeOff] {
        let answer = answered(AssistantMessage::started("x/m"), &[half], end);
        assert_eq!(answer.text().trim_end(), "Because.");
    }
    let answer = answered(AssistantMessage::started("x/m"), &[half], FINISHED);
    assert_eq!(answer.text(), half, "the model ended like this: it is text");
}

/// What an answer may be made of: text, control text, and what is nearly control text.
fn fragment() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "See: ",
        "\n\n",
        "é",
        " TABLE: {\"rows\": []} ",
        "\nTABLE: {\"rows\": [1, 2]}\n",
        "**TABLE:** ```json\n{\"rows\": [1]}\n```",
        "TABLE: {\"rows\": [0,1,2,3,4,5,6,7,8,9]}",
        "TABLE: {\"rows\": 1}",
        "TABLE: {",
        "`TABLE: {\"rows\": []}`",
        "\nSUGGESTED_VALUES: [{\"label\": \"Yes\", \"value\": \"yes\"}]\n",
        "\nSUGGESTED_ACTIONS: [{\"label\": \"New\", \"action\": \"new_conversation\", \"handler\": \"client\"}]\n",
        "<!-- METADATA: {\"a\": 1} -->",
    ])
}

/// A text in pieces of so many characters, in turn.
fn cut(text: &str, lengths: &[usize]) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut characters = text.chars().peekable();
    for length in lengths.iter().cycle() {
        if characters.peek().is_none() {
            break;
        }
        pieces.push(characters.by_ref().take(*length).collect());
    }
    pieces
}

properties! {
    256;

    /// Whatever the model writes, and however it comes.
    #[test]
    fn what_is_told_of_is_kept_before_and_how_it_came_does_not_matter(
        fragments in prop::collection::vec(fragment(), 0..8),
        lengths in prop::collection::vec(1..9_usize, 1..6),
    ) {
        let text = fragments.concat();
        let (_, whole) = played(AssistantMessage::started("x/m"), &[&text], FINISHED);
        let pieces = cut(&text, &lengths);
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let (effects, answer) = played(AssistantMessage::started("x/m"), &pieces, FINISHED);
        prop_assert_eq!(&whole, &answer);
        let mut replayed = AssistantMessage::started("x/m");
        let mut kept = Vec::new();
        for effect in effects {
            match effect {
                Effect::Keep(payload) => kept.push(payload.reference()),
                Effect::Log(event) | Effect::End(event) => {
                    if let EventBody::PayloadMade { payload, .. } = &event {
                        prop_assert_eq!(kept.last(), Some(payload));
                    }
                    prop_assert!(apply_to_run(&mut replayed, &event).is_some(), "{:?} does not follow", event);
                }
                _ => {}
            }
        }
        prop_assert_eq!(&replayed, &answer);
        prop_assert_eq!(kept, replayed.payloads().cloned().collect::<Vec<_>>());
    }

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
