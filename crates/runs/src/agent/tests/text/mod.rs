//! The model's output besides plain text.

mod corrections;
mod sources;

use std::sync::Arc;

use super::*;
use control::Marker;
use fuzzing::properties;
use parlor_protocol::{Node, Payload, PayloadRef, RawJson, RunStatus, SuggestedAction, ToolCall, ToolStatus};
use proptest::prelude::*;
use serde_json::Value;

/// A run with a search that returned `output`.
fn message_with_tool_output(output: &str) -> AssistantMessage {
    let mut message = AssistantMessage::new("x/m");
    let call = ToolCall {
        input: RawJson::parse_or_quote(r#"{"query": "x"}"#),
        output: Some(output.into()),
        ..ToolCall::for_test("web_search", ToolStatus::Complete)
    };
    message.nodes.push(Node {
        parts: vec![Part::ToolCall(Box::new(call))],
    });
    message
}

/// A URL from an earlier turn.
const EARLIER_URL: &str = "https://earlier.example/x";

/// A page with tables, some of which are rejected, and one action.
#[derive(Debug)]
struct TablePage;

impl PayloadFactory for TablePage {
    fn markers(&self) -> Vec<Marker> {
        vec![Marker {
            marker: "TABLE:".into(),
            kind: "table".into(),
            parse: |data| match data["rows"].is_array() {
                true => Ok(data.clone()),
                false => Err("a table has rows".into()),
            },
            is_corrected: false,
        }]
    }

    fn status_text(&self, kind: &str) -> String {
        format!("Writing a {kind}...")
    }

    fn create_payload(&self, kind: &str, data: Value) -> Result<Payload, String> {
        match data["rows"].as_array().map(Vec::len) {
            Some(count) if count < 10 => Ok(Payload {
                payload_id: format!("id{count}"),
                kind: kind.into(),
                summary: "Table".into(),
                data: RawJson::parse_or_quote(&data.to_string()),
            }),
            _ => Err("too large".into()),
        }
    }

    fn to_ref(&self, payload: &Payload) -> PayloadRef {
        PayloadViews::default().to_ref(payload)
    }

    fn is_known_url(&self, url: &str, _: &dyn Toolbox) -> bool {
        url == EARLIER_URL
    }
}

fn play(message: AssistantMessage, deltas: &[&str], end: Input) -> (Vec<Effect>, AssistantMessage) {
    let at = Timestamp(0);
    let mut agent = Agent::new(message, Arc::new(NoTools), Arc::new(TablePage), limits(5));
    let mut effects = agent.step(Input::Start, at);
    for delta in deltas {
        effects.extend(agent.step(Input::Model(ModelEvent::Text((*delta).into())), at));
    }
    effects.extend(agent.step(end, at));
    // Everything that is checked may be shown.
    while let Some(index) = effects
        .iter()
        .position(|effect| matches!(effect, Effect::Check(_)))
    {
        if let Effect::Check(unchecked) = effects.remove(index) {
            effects.extend(agent.step(Input::Checked(unchecked), at));
        }
    }
    (effects, agent.message().clone())
}

fn play_message(message: AssistantMessage, deltas: &[&str], end: Input) -> AssistantMessage {
    play(message, deltas, end).1
}

/// The logged and stored items: texts, statuses and ids.
fn logged_texts(effects: &[Effect]) -> Vec<&str> {
    let logged = effects.iter().filter_map(|effect| match effect {
        Effect::StorePayload(payload) => Some(payload.payload_id.as_str()),
        Effect::Log(RunEvent::PayloadMade { .. }) => Some("made"),
        Effect::Log(RunEvent::TextDelta { text, .. }) => Some(text),
        Effect::Log(RunEvent::Status { message }) => Some(message),
        _ => None,
    });
    logged.skip_while(|logged| *logged == "Thinking...").collect()
}

const FINISHED: Input = Input::Model(ModelEvent::Finished(FinishReason::Stop));

#[test]
fn takes_suggestions_out_of_the_text() {
    let deltas = [
        "Shall I?\n\nSUGGESTED_VAL",
        "UES: [{\"label\": \"Yes\", \"value\": \"Yes, please\"}]\n",
        "SUGGESTED_ACTIONS: [{\"label\": \"New\", \"action\": \"new_conversation\", \"handler\": \"client\"}]",
    ];
    let answer = play_message(AssistantMessage::new("x/m"), &deltas, FINISHED);
    assert_eq!(
        (answer.text().as_str(), answer.status),
        ("Shall I?", RunStatus::Complete)
    );
    assert_eq!(answer.suggested_values[0].value, "Yes, please");
    assert_eq!(answer.suggested_actions[0].action, "new_conversation");
}

#[test]
fn suggests_only_known_actions() {
    let actions = r#"SUGGESTED_ACTIONS: [
        {"label": "New", "action": "new_conversation", "handler": "client"},
        {"label": "Wipe", "action": "format_disk", "handler": "client"},
        {"label": "Any", "action": "format_disk", "handler": "server"}]"#;
    let (effects, answer) = play(AssistantMessage::new("x/m"), &["Now?\n", actions], FINISHED);
    assert_eq!(labels(&answer.suggested_actions), ["New", "Any"]);
    let left_out = effects.iter().find_map(|effect| match effect {
        Effect::LeaveOut(left_out) => Some(left_out.what.as_str()),
        _ => None,
    });
    assert_eq!(
        left_out,
        Some("the action “format_disk”: the page has no such action")
    );
}

fn labels(actions: &[SuggestedAction]) -> Vec<&str> {
    actions.iter().map(|action| action.label.as_str()).collect()
}

#[test]
fn answer_ends_after_its_checks() {
    let at = Timestamp(0);
    let mut agent = Agent::new(
        AssistantMessage::new("x/m"),
        Arc::new(NoTools),
        Arc::new(TablePage),
        limits(5),
    );
    agent.step(Input::Start, at);
    let written = "See.\nSUGGESTED_ACTIONS: [{\"label\": \"A\", \"action\": \"open\", \"handler\": \"client\"}, \
                   {\"label\": \"B\", \"action\": \"open\", \"handler\": \"client\"}]";
    let mut effects = agent.step(Input::Model(ModelEvent::Text(written.into())), at);
    effects.extend(agent.step(FINISHED, at));
    let Some(Effect::Check(Unchecked::Actions(mut actions))) = effects.pop() else {
        panic!("{effects:?}");
    };
    assert_eq!(labels(&actions), ["A", "B"]);
    assert_eq!(agent.message().status, RunStatus::Running);
    actions.remove(0);
    let effects = agent.step(Input::Checked(Unchecked::Actions(actions)), at);
    assert!(matches!(
        effects.last(),
        Some(Effect::End(RunEvent::Complete { .. }))
    ));
    assert_eq!(labels(&agent.message().suggested_actions), ["B"]);
}

#[test]
fn announces_then_stores_then_logs_a_payload() {
    let deltas = [
        "See: TABLE: {",
        "\"rows\"",
        ": [1]} and TABLE: {\"rows\": []}",
        " there.",
    ];
    let (effects, answer) = play(AssistantMessage::new("x/m"), &deltas, FINISHED);
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
    assert_eq!(logged_texts(&effects), expected);
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
fn rejected_payload_stays_text() {
    for rejected in [
        "TABLE: {\"rows\": 1}",
        "TABLE: {\"rows\": [0,1,2,3,4,5,6,7,8,9]}",
        "TABLE: {\"rows\": [",
    ] {
        let (effects, answer) = play(AssistantMessage::new("x/m"), &["See ", rejected], FINISHED);
        assert_eq!(answer.text(), format!("See {rejected}"));
        assert!(
            !effects
                .iter()
                .any(|effect| matches!(effect, Effect::StorePayload(_)))
        );
    }
}

#[test]
fn trims_text_after_a_payload() {
    for (rejected, text) in [
        (" and so on", "See:\n\nand so on"),
        ("\n\nAnd so on", "See:\n\nAnd so on"),
        ("\n\n    code\n", "See:\n\n    code\n"),
        ("\n\n", "See:"),
    ] {
        let answer_text = format!("See: TABLE: {{\"rows\": []}}{rejected}");
        let answer = play_message(AssistantMessage::new("x/m"), &[&answer_text], FINISHED);
        assert_eq!(answer.text(), text);
    }
}

#[test]
fn accepts_a_payload_only_answer() {
    let answer = play_message(AssistantMessage::new("x/m"), &["TABLE: {\"rows\": []}"], FINISHED);
    assert_eq!((answer.status, answer.activity), (RunStatus::Complete, None));
}

#[test]
fn drops_held_text_when_broken_off() {
    let half = "Because.\n\nSUGGESTED_VALUES: [{\"lab";
    for end in [Input::Stop, Input::StreamEnded] {
        let answer = play_message(AssistantMessage::new("x/m"), &[half], end);
        assert_eq!(answer.text().trim_end(), "Because.");
    }
    let answer = play_message(AssistantMessage::new("x/m"), &[half], FINISHED);
    assert_eq!(answer.text(), half, "the model ended like this: it is text");
}

/// Deltas of an answer: text, control text, and near misses of control text.
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

/// Splits a text into deltas of the given lengths, in turn.
fn split_text(text: &str, lengths: &[usize]) -> Vec<String> {
    let mut deltas = Vec::new();
    let mut characters = text.chars().peekable();
    for length in lengths.iter().cycle() {
        if characters.peek().is_none() {
            break;
        }
        deltas.push(characters.by_ref().take(*length).collect());
    }
    deltas
}

properties! {
    256;

    /// Invariants for any text and any split of it.
    #[test]
    fn stores_before_logging_however_text_is_split(
        fragments in prop::collection::vec(fragment(), 0..8),
        lengths in prop::collection::vec(1..9_usize, 1..6),
    ) {
        let text = fragments.concat();
        let (_, whole) = play(AssistantMessage::new("x/m"), &[&text], FINISHED);
        let deltas = split_text(&text, &lengths);
        let deltas: Vec<&str> = deltas.iter().map(String::as_str).collect();
        let (effects, answer) = play(AssistantMessage::new("x/m"), &deltas, FINISHED);
        prop_assert_eq!(&whole, &answer);
        let mut replayed = AssistantMessage::new("x/m");
        let mut kept = Vec::new();
        for effect in effects {
            match effect {
                Effect::StorePayload(payload) => kept.push(payload.to_ref()),
                Effect::Log(event) | Effect::End(event) => {
                    if let RunEvent::PayloadMade { payload, .. } = &event {
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
