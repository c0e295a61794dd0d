//! What the model is shown: the branch of the conversation that leads to the run, and what the run has already said and done.

use std::collections::HashSet;

use super::workshop::Desk;
use crate::{
    protocol::{AssistantMessage, Message, MessageBody, PieceKind, ToolCall, ToolStatus},
    providers::{ModelMessage, ToolUse},
};

/// Asks for the rest of an answer. Few model servers go on with an answer that is the last message they are shown; all
/// of them follow an instruction.
const GO_ON: &str = "Your answer was cut off. Go on from exactly where it stops, in the middle of a word if need be. Do not \
                     repeat any of it, do not begin anew, and do not mention this.";

/// What the model is shown for an answer that has come to `begun`, `prompt` first. `history` leads to it, oldest first; answers that came to
/// nothing are left out. What the model has made for the panel stands where it wrote it, as `desk` knows it.
pub(super) fn messages_for(
    prompt: &str,
    history: &[Message],
    begun: &AssistantMessage,
    desk: &Desk,
) -> Vec<ModelMessage> {
    let mut messages = vec![ModelMessage::System(prompt.into())];
    for message in history {
        match &message.body {
            MessageBody::User { text, .. } => messages.push(ModelMessage::User(text.clone())),
            MessageBody::Assistant(assistant) => said_and_done(assistant, desk, &mut messages),
        }
    }
    said_and_done(begun, desk, &mut messages);
    go_on(&mut messages, begun);
    tell_apart(&mut messages);
    messages
}

/// What a run has said, and what its tools have given.
fn said_and_done(assistant: &AssistantMessage, desk: &Desk, messages: &mut Vec<ModelMessage>) {
    let mut turn = Turn::default();
    for piece in assistant.pieces() {
        match piece.kind {
            PieceKind::Thinking => {}
            PieceKind::Payload(payload) => {
                if let Some(written) = desk.as_written(&payload.payload_id) {
                    turn.ends_before(piece.key.0, messages);
                    turn.say(&written);
                }
            }
            PieceKind::Text => {
                turn.ends_before(piece.key.0, messages);
                turn.say(&piece.texts.concat());
            }
            PieceKind::Tool(call) => {
                turn.ends_before(piece.key.0, messages);
                turn.node = piece.key.0;
                turn.calls.push(call);
            }
        }
    }
    turn.end(messages);
}

/// What the model said until it waited for its tools.
#[derive(Default)]
struct Turn<'a> {
    text: String,
    calls: Vec<&'a ToolCall>,
    /// Where the calls are.
    node: usize,
}

impl Turn<'_> {
    /// What is in another node than the calls comes after what they gave.
    fn ends_before(&mut self, node: usize, messages: &mut Vec<ModelMessage>) {
        if !self.calls.is_empty() && node != self.node {
            self.end(messages);
        }
    }

    fn say(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
    }

    fn end(&mut self, messages: &mut Vec<ModelMessage>) {
        let (text, calls) = (std::mem::take(&mut self.text), std::mem::take(&mut self.calls));
        if text.is_empty() && calls.is_empty() {
            return;
        }
        messages.push(ModelMessage::Assistant {
            text,
            tool_calls: calls.iter().map(|call| as_asked(call)).collect(),
        });
        messages.extend(calls.iter().map(|call| ModelMessage::Tool {
            tool_use_id: call.tool_use_id.clone(),
            output: output(call),
        }));
    }
}

fn as_asked(call: &ToolCall) -> ToolUse {
    let input = call.input.as_str();
    ToolUse {
        id: call.tool_use_id.clone(),
        name: call.tool.clone(),
        // Servers parse it, and refuse a conversation in which it is not an object.
        arguments: if input.starts_with('{') {
            input.into()
        } else {
            "{}".into()
        },
    }
}

/// Every call has to be followed by something, whatever has become of it.
fn output(call: &ToolCall) -> String {
    match &call.output {
        Some(output) => output.clone(),
        None => match call.status {
            ToolStatus::Unknown | ToolStatus::Running => {
                "The outcome of this call is unknown: it was broken off.".into()
            }
            ToolStatus::Stopped => "The person stopped this before it had ended.".into(),
            _ => "This call was not made.".into(),
        },
    }
}

/// Asks for the rest of an answer that is continued. Roles go on taking turns, as some models' templates demand.
fn go_on(branch: &mut Vec<ModelMessage>, begun: &AssistantMessage) {
    let pieces = begun.pieces();
    let since_tools = pieces
        .iter()
        .rev()
        .take_while(|piece| !matches!(piece.kind, PieceKind::Tool(_)));
    let mut thoughts = Vec::new();
    for piece in since_tools {
        if matches!(piece.kind, PieceKind::Text | PieceKind::Payload(_)) {
            branch.push(ModelMessage::User(GO_ON.into()));
            return;
        }
        thoughts.insert(0, piece.texts.concat());
    }
    if thoughts.is_empty() {
        return;
    }
    // There is no role for thoughts without an answer.
    let thoughts = format!(
        "(You had begun to think about this and were cut off before you answered. Go on from where your thoughts stop, and do \
         not mention this. Your thoughts so far:\n\n{})",
        thoughts.join("\n\n")
    );
    match branch.last_mut() {
        Some(ModelMessage::User(question)) => *question = format!("{question}\n\n{thoughts}"),
        _ => branch.push(ModelMessage::User(thoughts)),
    }
}

/// Gives each call an id of its own: a model that counts its calls from 1 does so in every answer.
fn tell_apart(messages: &mut [ModelMessage]) {
    let mut used: HashSet<String> = HashSet::new();
    let mut renamed: Vec<(String, String)> = Vec::new();
    for message in messages {
        match message {
            ModelMessage::Assistant { tool_calls, .. } => {
                renamed.clear();
                for call in tool_calls {
                    let mut id = call.id.clone();
                    let mut tries = 0;
                    while !used.insert(id.clone()) {
                        tries += 1;
                        id = format!("{}{tries}", call.id);
                    }
                    renamed.push((std::mem::replace(&mut call.id, id.clone()), id));
                }
            }
            ModelMessage::Tool { tool_use_id, .. } => {
                if let Some((_, id)) = renamed.iter().find(|(old, _)| old == tool_use_id) {
                    tool_use_id.clone_from(id);
                }
            }
            ModelMessage::System(_) | ModelMessage::User(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        pages::payload_config::TABLE,
        protocol::{Interaction, Json, MessageId, Node, Part, Payload, Timestamp},
    };

    fn thinking(text: &str) -> Part {
        Part::Thinking { text: text.into() }
    }

    fn text(text: &str) -> Part {
        Part::Text { text: text.into() }
    }

    const TABLE_DATA: &str = r#"{"columns":["a"],"rows":[[1]]}"#;

    fn desk_payload() -> Payload {
        Payload {
            payload_id: "abc12345".into(),
            kind: "table".into(),
            summary: "Table (1)".into(),
            data: Json::or_string(TABLE_DATA),
        }
    }

    /// Where a table was made.
    fn desk() -> Desk {
        Desk::new(vec![&TABLE], Vec::new(), 1000, vec![desk_payload()])
    }

    fn made() -> Part {
        Part::Payload {
            payload: desk_payload().reference(),
        }
    }

    /// What the model is shown when an answer with these nodes is continued.
    fn shown(nodes: &[&[Part]]) -> Vec<ModelMessage> {
        let question = Message {
            id: MessageId::new(),
            parent_id: None,
            created_at: Timestamp(0),
            body: MessageBody::User {
                text: "Why?".into(),
                interaction: Interaction::TextInput,
            },
        };
        let mut begun = AssistantMessage::started("x/m");
        begun.nodes = nodes
            .iter()
            .map(|parts| Node {
                parts: parts.to_vec(),
            })
            .collect();
        let mut shown = messages_for("Be brief.", &[question], &begun, &desk());
        assert_eq!(shown.remove(0), ModelMessage::System("Be brief.".into()));
        shown
    }

    #[test]
    fn an_answer_that_has_not_begun_is_simply_asked_for() {
        assert_eq!(shown(&[]), [ModelMessage::User("Why?".into())]);
    }

    #[test]
    fn a_text_that_was_cut_off_is_shown_with_the_wish_to_go_on() {
        let go_on = ModelMessage::User(GO_ON.into());
        let cut = shown(&[&[thinking("Hm."), text("Because the sk")]]);
        assert_eq!(
            cut[1..],
            [ModelMessage::assistant("Because the sk"), go_on.clone()]
        );
        // Cut off again, after it had thought once more: still one text.
        let again = shown(&[&[text("Because the sk")], &[thinking("Well."), text("y is bl")]]);
        assert_eq!(
            again[1..],
            [ModelMessage::assistant("Because the sky is bl"), go_on]
        );
    }

    #[test]
    fn thoughts_that_were_cut_off_are_shown_with_the_question() {
        let [ModelMessage::User(question)] = &shown(&[&[thinking("The sky scat")]])[..] else {
            panic!("roles take turns")
        };
        assert!(question.starts_with("Why?\n\n("), "{question}");
        assert!(question.ends_with("The sky scat)"), "{question}");
    }

    fn call(id: &str, output: Option<&str>, status: ToolStatus) -> Part {
        Part::ToolCall(Box::new(ToolCall {
            tool_use_id: id.into(),
            index: 0,
            tool: "look".into(),
            input: Json::or_string("{}"),
            label: "Looked".into(),
            detail: None,
            status,
            progress: None,
            output: output.map(Into::into),
            payload: None,
            started_at: None,
            ended_at: None,
        }))
    }

    fn gave(id: &str, output: &str) -> ModelMessage {
        ModelMessage::Tool {
            tool_use_id: id.into(),
            output: output.into(),
        }
    }

    /// The texts, and the ids of the calls, of what the model said.
    fn said(message: &ModelMessage) -> (&str, Vec<&str>) {
        match message {
            ModelMessage::Assistant { text, tool_calls } => {
                (text, tool_calls.iter().map(|call| call.id.as_str()).collect())
            }
            other => panic!("not the model's: {other:?}"),
        }
    }

    #[test]
    fn each_call_is_followed_by_what_it_gave_and_nothing_else_is_asked_for() {
        let first = [
            thinking("Hm."),
            text("Let me look."),
            call("a", Some("x"), ToolStatus::Complete),
        ];
        let second = [
            call("b", Some("no"), ToolStatus::Failed),
            call("c", Some("y"), ToolStatus::Complete),
        ];
        let shown = shown(&[&first, &second]);
        assert_eq!(said(&shown[1]), ("Let me look.", vec!["a"]));
        assert_eq!(shown[2], gave("a", "x"));
        assert_eq!(said(&shown[3]), ("", vec!["b", "c"]));
        assert_eq!(shown[4..], [gave("b", "no"), gave("c", "y")]);
    }

    #[test]
    fn calls_that_have_given_nothing_are_said_to_have_been_broken_off() {
        let lost = [
            call("a", None, ToolStatus::Unknown),
            call("b", None, ToolStatus::Stopped),
            call("c", None, ToolStatus::Waiting),
        ];
        let shown = shown(&[&lost]);
        let outputs: Vec<&str> = shown[2..]
            .iter()
            .map(|message| match message {
                ModelMessage::Tool { output, .. } => output.as_str(),
                other => panic!("not a tool's: {other:?}"),
            })
            .collect();
        assert!(outputs[0].contains("unknown"), "{outputs:?}");
        assert!(outputs[1].contains("stopped"), "{outputs:?}");
        assert!(outputs[2].contains("not made"), "{outputs:?}");
    }

    #[test]
    fn a_text_that_breaks_off_after_a_tool_is_asked_to_go_on_by_itself() {
        let used = [text("Let me look."), call("a", Some("x"), ToolStatus::Complete)];
        let shown = shown(&[&used, &[text("It is")]]);
        assert_eq!(said(&shown[3]), ("It is", vec![]));
        assert_eq!(shown[4], ModelMessage::User(GO_ON.into()));
    }

    #[test]
    fn what_the_model_has_made_stands_where_it_wrote_it() {
        let go_on = ModelMessage::User(GO_ON.into());
        let written = format!("TABLE: {TABLE_DATA}");
        let whole = shown(&[&[text("See:"), made(), text("That is")]]);
        let said = ModelMessage::assistant(format!("See:\n\n{written}\n\nThat is"));
        assert_eq!(whole[1..], [said, go_on.clone()]);
        // Cut off right behind it, and nothing else was said.
        let alone = shown(&[&[thinking("Hm."), made()]]);
        assert_eq!(alone[1..], [ModelMessage::assistant(written), go_on]);
    }

    #[test]
    fn calls_with_the_same_id_are_told_apart() {
        let mut begun = AssistantMessage::started("x/m");
        let parts = vec![call("a", Some("x"), ToolStatus::Complete)];
        begun.nodes = vec![
            Node { parts: parts.clone() },
            Node { parts: parts.clone() },
            Node { parts },
        ];
        let shown = messages_for("", &[], &begun, &desk());
        let ids: Vec<Vec<&str>> = shown[1..]
            .iter()
            .step_by(2)
            .map(|message| said(message).1)
            .collect();
        assert_eq!(ids, [["a"], ["a1"], ["a2"]]);
        assert_eq!((&shown[4], &shown[6]), (&gave("a1", "x"), &gave("a2", "x")));
    }
}
