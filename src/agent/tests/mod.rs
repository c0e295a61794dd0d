//! The loop without tools.

mod ends;

use serde_json::Value;

use super::{control::Marker, ends::error, *};
use crate::{
    model::{Beside, ToolPlan, Unread},
    protocol::{Json, Node, Opaque, Payload},
};

const NOON: Timestamp = Timestamp(1_795_262_400_000);

/// Nothing can be asked for.
#[derive(Debug)]
struct NoTools;

impl Toolbox for NoTools {
    fn plan(&self, tool: &str, _: &str) -> Result<ToolPlan, String> {
        Err(format!("There is no tool {tool}."))
    }
}

/// Text, and nothing else.
#[derive(Debug)]
pub(super) struct TextOnly;

impl Workshop for TextOnly {
    fn markers(&self) -> Vec<Marker> {
        Vec::new()
    }

    fn writing(&self, _: &str) -> String {
        String::new()
    }

    fn make(&self, kind: &str, _: Value) -> Result<Payload, String> {
        Err(format!("nothing of the type {kind} is made here"))
    }

    fn performs(&self, _: &str) -> bool {
        false
    }

    fn has_been_given(&self, _: &str) -> bool {
        false
    }
}

/// So many calls of the model may ask for tools.
pub(super) fn terms(max_iterations: usize) -> Terms {
    Terms {
        max_iterations,
        has_metadata: true,
        repetitions: 8,
    }
}

const CALL: Effect = Effect::Call { with_tools: true };

/// Feeds inputs to a new agent; gives all effects and what the run has come to.
fn played(inputs: impl IntoIterator<Item = Input>) -> (Vec<Effect>, AssistantMessage) {
    let message = AssistantMessage::started("x/m");
    let mut agent = Agent::new(message, Arc::new(NoTools), Arc::new(TextOnly), terms(5));
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

fn finished_because(reason: FinishReason) -> Input {
    Input::Model(ModelEvent::Finished(reason))
}

fn cannot_read(name: &str) -> Input {
    Input::Model(ModelEvent::Unread {
        what: Unread::Unknown(name.into()),
        raw: String::new(),
    })
}

fn failure(kind: ModelErrorKind) -> Input {
    Input::Failed(ModelError {
        error: error("some_code", "It failed.".into(), ""),
        kind,
    })
}

fn ended(effects: &[Effect]) -> Option<RunStatus> {
    match effects.last() {
        Some(Effect::End(event)) => event.terminal_status(),
        _ => None,
    }
}

#[test]
fn a_turn_of_thinking_and_text_is_logged_delta_by_delta() {
    let (effects, message) = played([
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
fn thinking_between_texts_is_a_part_of_its_own() {
    let (_, message) = played([Input::Start, text("a"), thought("b"), text("c"), finished()]);
    let parts: Vec<&str> = message.nodes[0].parts.iter().map(Part::text).collect();
    assert_eq!(parts, ["a", "b", "c"]);
}

#[test]
fn an_image_is_told_of_in_its_place() {
    let image = || {
        Input::Model(ModelEvent::Unread {
            what: Unread::Image,
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
        let (effects, message) = played(inputs);
        assert_eq!(
            (ended(&effects), message.text()),
            (Some(RunStatus::Complete), expected)
        );
    }
}

#[test]
fn text_before_a_closing_tag_becomes_thinking() {
    let was_thinking = Input::Model(ModelEvent::TextWasThinking);
    let (effects, message) = played([
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
    let told = Effect::Log(EventBody::TextWasThinking { node: 0 });
    assert!(effects.contains(&told), "{effects:?}");
    let (effects, _) = played([Input::Start, was_thinking, text("Hi"), finished()]);
    assert!(!effects.contains(&told), "there was no text");
}

#[test]
fn data_for_the_provider_are_kept_beside_their_part() {
    let data = |value: &str| Opaque {
        kind: "openai".into(),
        field: "extra_content".into(),
        value: Json::or_string(value),
    };
    let said = |beside, value| {
        Input::Model(ModelEvent::Opaque {
            beside,
            data: data(value),
        })
    };
    let (effects, _) = played([
        Input::Start,
        thought("Hm."),
        said(Beside::LastPart, "1"),
        text("x"),
        said(Beside::LastPart, "2"),
        said(Beside::Answer, "3"),
        finished(),
    ]);
    let kept: Vec<_> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::KeepOpaque { node, part, data } => Some((*node, *part, data.value.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(kept, [(0, Some(0), "1"), (0, Some(1), "2"), (0, None, "3")]);
}
