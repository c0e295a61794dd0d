//! The agent loop without tools.

mod calls;
mod ends;
mod text;

use serde_json::Value;

use super::{control::Marker, errors::run_error, *};
use parlor_model::{ProviderDataTarget, ToolPlan, UnreadableContent};
use parlor_pages::payloads::PayloadViews;
use parlor_protocol::{Attachment, AttachmentId, Node, Payload, PayloadRef, ProviderData, RawJson};

const NOON: Timestamp = Timestamp(1_795_262_400_000);

/// A toolbox without tools.
#[derive(Debug)]
struct NoTools;

impl Toolbox for NoTools {
    fn plan(&self, tool: &str, _: &str) -> Result<ToolPlan, String> {
        Err(format!("There is no tool {tool}."))
    }

    fn finds_sources(&self, tool: &str) -> bool {
        tool == "web_search"
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

    fn to_ref(&self, payload: &Payload) -> PayloadRef {
        PayloadViews::default().to_ref(payload)
    }

    fn is_known_url(&self, _: &str, _: &dyn Toolbox) -> bool {
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
    Effect::Log(RunEvent::Status {
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
        Effect::Log(RunEvent::Thinking {
            node: 0,
            part: 0,
            offset,
            text: text.into(),
            took_ms: 0,
        })
    };
    let delta = |offset, text: &str| {
        Effect::Log(RunEvent::TextDelta {
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
            Effect::End(RunEvent::Complete {
                ended_at: NOON,
                worked_ms: 0,
                finish_reason: Some(FinishReason::Stop),
                is_quiet: false,
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
fn adds_a_stored_image_at_its_position() {
    let file = Attachment {
        id: AttachmentId::new(),
        name: "image-1.png".into(),
        media_type: "image/png".into(),
        bytes: 5,
        width: Some(2),
        height: Some(1),
        text_bytes: None,
        problem: None,
    };
    let image = || Input::ImageStored(file.clone());
    let (_, message) = play([
        Input::Start,
        text("Here:"),
        image(),
        text("\n\nNice?"),
        finished(),
    ]);
    let said = |text: &str| Part::Text { text: text.into() };
    let shown = || Part::File { file: file.clone() };
    assert_eq!(message.nodes[0].parts, [said("Here:"), shown(), said("Nice?")]);
    // An image alone is an answer.
    let (effects, message) = play([Input::Start, image(), finished()]);
    assert_eq!(
        (end_status(&effects), &message.nodes[0].parts[..]),
        (Some(RunStatus::Complete), &[shown()][..])
    );
}

#[test]
fn notes_an_image_at_its_position() {
    let image = || {
        Input::Model(ModelEvent::Unreadable {
            what: UnreadableContent::Image,
            raw: String::new(),
        })
    };
    let note = "*(There is an image here, which can’t be shown.)*";
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
    let expected = Effect::Log(RunEvent::TextWasThinking { node: 0 });
    assert!(effects.contains(&expected), "{effects:?}");
    let (effects, _) = play([Input::Start, was_thinking, text("Hi"), finished()]);
    assert!(!effects.contains(&expected), "there was no text");
}

#[test]
fn stores_provider_data_with_their_part() {
    let data = |value: &str| ProviderData {
        kind: "openai".into(),
        field: "extra_content".into(),
        value: RawJson::parse_or_quote(value),
    };
    let provider_data = |target, value| {
        Input::Model(ModelEvent::ProviderData {
            target,
            data: data(value),
        })
    };
    let (effects, _) = play([
        Input::Start,
        thought("Hm."),
        provider_data(ProviderDataTarget::LastPart, "1"),
        text("x"),
        provider_data(ProviderDataTarget::LastPart, "2"),
        provider_data(ProviderDataTarget::Answer, "3"),
        finished(),
    ]);
    let kept: Vec<_> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::StoreProviderData { node, part, data } => Some((*node, *part, data.value.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(kept, [(0, Some(0), "1"), (0, Some(1), "2"), (0, None, "3")]);
}

#[test]
fn duration_of_thinking_is_logged_at_its_end() {
    let message = AssistantMessage::new("x/m");
    let mut agent = Agent::new(message, Arc::new(NoTools), Arc::new(NoPayloads), limits(5));
    let at = |ms: i64| Timestamp(NOON.0 + ms);
    agent.step(Input::Start, at(0));
    agent.step(thought("Hmm"), at(3000));
    agent.step(thought("."), at(4000));
    let effects = agent.step(text("Yes"), at(5500));
    let took = Effect::Log(RunEvent::Thinking {
        node: 0,
        part: 0,
        offset: 4,
        text: String::new(),
        took_ms: 2500,
    });
    assert_eq!(effects.first(), Some(&took));
    agent.step(finished(), at(9000));
    assert_eq!(agent.message().thought_ms, 2500);
    assert_eq!(agent.message().text(), "Yes");
}

#[test]
fn stop_ends_the_thinking_too() {
    let message = AssistantMessage::new("x/m");
    let mut agent = Agent::new(message, Arc::new(NoTools), Arc::new(NoPayloads), limits(5));
    agent.step(Input::Start, NOON);
    agent.step(thought("Hmm."), NOON);
    agent.step(Input::Stop, Timestamp(NOON.0 + 700));
    assert_eq!(agent.message().thought_ms, 700);
}

#[test]
fn image_ends_the_thinking() {
    let file = Attachment {
        id: AttachmentId::new(),
        name: "image-1.png".into(),
        media_type: "image/png".into(),
        bytes: 5,
        width: None,
        height: None,
        text_bytes: None,
        problem: None,
    };
    let unreadable = Input::Model(ModelEvent::Unreadable {
        what: UnreadableContent::Image,
        raw: String::new(),
    });
    for image in [Input::ImageStored(file), unreadable] {
        let message = AssistantMessage::new("x/m");
        let mut agent = Agent::new(message, Arc::new(NoTools), Arc::new(NoPayloads), limits(5));
        agent.step(Input::Start, NOON);
        agent.step(thought("Hmm."), NOON);
        agent.step(image, Timestamp(NOON.0 + 700));
        agent.step(finished(), Timestamp(NOON.0 + 900));
        assert_eq!(agent.message().thought_ms, 700);
    }
}
