//! What the model says besides text.

mod sources;

use std::sync::Arc;

use super::{tests::terms, *};
use crate::{
    model::ToolPlan,
    pages::actions::EVERYWHERE,
    protocol::{Json, Node, Payload, RunStatus, ToolCall, ToolStatus},
};
use control::Marker;
use fuzzing::properties;
use proptest::prelude::*;
use serde_json::Value;

#[derive(Debug)]
struct NoTools;

impl Toolbox for NoTools {
    fn plan(&self, tool: &str, _: &str) -> Result<ToolPlan, String> {
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
}
