//! The agent loop without tools.

mod calls;
mod ends;
mod text;

use serde_json::Value;

use super::{control::Marker, errors::run_error, *};
use crate::{
    model::{OpaqueTarget, ToolPlan, UnreadableContent},
    protocol::{Node, Opaque, Payload, RawJson},
};

const NOON: Timestamp = Timestamp(1_795_262_400_000);

/// A toolbox without tools.
#[derive(Debug)]
struct NoTools;

impl Toolbox for NoTools {
    fn plan(&self, tool: &str, _: &str) -> Result<ToolPlan, String> {
        Err(format!("There is no tool {tool}."))
    }
}

/// A page without payloads.
#[derive(Debug)]
pub(super) struct NoPayloads;

impl PayloadFactory for NoPayloads {
    fn markers(&self) -> Vec<Marker> {
        Vec::new()
    }

    fn status_text(&self, _: &str) -> String {
        String::new()
    }

    fn create_payload(&self, kind: &str, _: Value) -> Result<Payload, String> {
        Err(format!("nothing of the type {kind} is made here"))
    }

    fn supports_action(&self, _: &str) -> bool {
        false
    }

    fn is_earlier_source(&self, _: &str) -> bool {
        false
    }
}

/// Limits with this number of model calls that may request tools.
pub(super) fn limits(max_iterations: usize) -> AgentLimits {
    AgentLimits {
        max_iterations,
        has_metadata: true,
        max_repetitions: 8,
    }
}

const CALL: Effect = Effect::CallModel { with_tools: true };

/// Feeds inputs to a new agent and returns all effects and the run's output.
fn play(inputs: impl IntoIterator<Item = Input>) -> (Vec<Effect>, AssistantMessage) {
    let message = AssistantMessage::new("x/m");
    let mut agent = Agent::new(message, Arc::new(NoTools), Arc::new(NoPayloads), limits(5));
    let effects = inputs
        .into_iter()
        .flat_map(|input| agent.step(input, NOON))
        .collect();
    (effects, agent.message().clone())
}

fn thinking_status() -> Effect {
    Effect::Log(EventBody::Status {
        message: "Thinking...".into(),
    })
}

fn text(text: &str) -> Input {
    Input::Model(ModelEvent::Text(text.into()))
}

fn thought(text: &str) -> Input {
    Input::Model(ModelEvent::Thinking(text.into()))
}

fn finished() -> Input {
    Input::Model(ModelEvent::Finished(FinishReason::Stop))
}

fn finished_with(reason: FinishReason) -> Input {
    Input::Model(ModelEvent::Finished(reason))
}

fn unreadable(name: &str) -> Input {
    Input::Model(ModelEvent::Unreadable {
        what: UnreadableContent::Unknown(name.into()),
        raw: String::new(),
    })
}

fn failure(kind: ModelErrorKind) -> Input {
    Input::CallFailed(ModelError {
        error: run_error("some_code", "It failed.".into(), ""),
        kind,
        reply: None,
    })
}

fn end_status(effects: &[Effect]) -> Option<RunStatus> {
    match effects.last() {
        Some(Effect::End(event)) => event.terminal_status(),
        _ => None,
    }
}

#[test]
fn logs_thinking_and_text_by_delta() {
    let (effects, message) = play([
        Input::Start,
        thought("Hm"),
        thought("m."),
        text("É"),
        text("!"),
        finished(),
    ]);
    let thinking = |offset, text: &str| {
        Effect::Log(EventBody::Thinking {
            node: 0,
            part: 0,
            offset,
            text: text.into(),
        })
    };
    let delta = |offset, text: &str| {
        Effect::Log(EventBody::TextDelta {
            node: 0,
            part: 1,
            offset,
            text: text.into(),
        })
    };
    assert_eq!(
        effects,
        [
            thinking_status(),
            CALL,
            thinking(0, "Hm"),
            thinking(2, "m."),
            delta(0, "É"),
            delta(2, "!"),
            Effect::End(EventBody::Complete {
                ended_at: NOON,
                worked_ms: 0,
                finish_reason: Some(FinishReason::Stop),
            }),
        ]
    );
    let parts = vec![
        Part::Thinking { text: "Hmm.".into() },
        Part::Text { text: "É!".into() },
    ];
    assert_eq!(message.nodes, [Node { parts }]);
    assert_eq!((message.status, message.activity), (RunStatus::Complete, None));
}

#[test]
fn thinking_between_texts_is_its_own_part() {
    let (_, message) = play([Input::Start, text("a"), thought("b"), text("c"), finished()]);
    let parts: Vec<&str> = message.nodes[0].parts.iter().map(Part::text).collect();
    assert_eq!(parts, ["a", "b", "c"]);
}

#[test]
fn notes_an_image_at_its_position() {
    let image = || {
        Input::Model(ModelEvent::Unreadable {
            what: UnreadableContent::Image,
            raw: String::new(),
        })
    };
    let note = "*(There is an image here, which can’t be shown yet.)*";
    for (inputs, expected) in [
        (vec![image()], note.to_owned()),
        (
            vec![text("Here:"), image(), image(), text("Nice?")],
            format!("Here:\n\n{note}\n\n{note}\n\nNice?"),
        ),
    ] {
        let inputs = [Input::Start].into_iter().chain(inputs).chain([finished()]);
        let (effects, message) = play(inputs);
        assert_eq!(
            (end_status(&effects), message.text()),
            (Some(RunStatus::Complete), expected)
        );
    }
}

#[test]
fn converts_text_before_closing_tag_to_thinking() {
    let was_thinking = Input::Model(ModelEvent::TextWasThinking);
    let (effects, message) = play([
        Input::Start,
        text("Let me see. "),
        was_thinking.clone(),
        text("Hi"),
        finished(),
    ]);
    let parts = vec![
        Part::Thinking {
            text: "Let me see. ".into(),
        },
        Part::Text { text: "Hi".into() },
    ];
    assert_eq!(message.nodes, [Node { parts }]);
    let expected = Effect::Log(EventBody::TextWasThinking { node: 0 });
    assert!(effects.contains(&expected), "{effects:?}");
    let (effects, _) = play([Input::Start, was_thinking, text("Hi"), finished()]);
    assert!(!effects.contains(&expected), "there was no text");
}

#[test]
fn stores_provider_data_with_their_part() {
    let data = |value: &str| Opaque {
        kind: "openai".into(),
        field: "extra_content".into(),
        value: RawJson::parse_or_quote(value),
    };
    let opaque = |beside, value| {
        Input::Model(ModelEvent::Opaque {
            beside,
            data: data(value),
        })
    };
    let (effects, _) = play([
        Input::Start,
        thought("Hm."),
        opaque(OpaqueTarget::LastPart, "1"),
        text("x"),
        opaque(OpaqueTarget::LastPart, "2"),
        opaque(OpaqueTarget::Answer, "3"),
        finished(),
    ]);
    let kept: Vec<_> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::StoreOpaque { node, part, data } => Some((*node, *part, data.value.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(kept, [(0, Some(0), "1"), (0, Some(1), "2"), (0, None, "3")]);
}
