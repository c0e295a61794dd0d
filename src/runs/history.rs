//! What the model is shown: the branch of the conversation that leads to the run, and what the run has already said.

use crate::{
    protocol::{AssistantMessage, Message, MessageBody},
    providers::ModelMessage,
};

/// Asks for the rest of an answer. Few model servers go on with an answer that is the last message they are shown; all
/// of them follow an instruction.
const GO_ON: &str = "Your answer was cut off. Go on from exactly where it stops, in the middle of a word if need be. Do not \
                     repeat any of it, do not begin anew, and do not mention this.";

/// What the model is shown for an answer that has come to `begun`. `history` leads to it, oldest first; answers that came to
/// nothing are left out.
pub(super) fn messages_for(history: &[Message], begun: &AssistantMessage) -> Vec<ModelMessage> {
    let mut messages = history.iter().filter_map(as_shown).collect();
    go_on(&mut messages, begun);
    messages
}

fn as_shown(message: &Message) -> Option<ModelMessage> {
    match &message.body {
        MessageBody::User { text } => Some(ModelMessage::User(text.clone())),
        MessageBody::Assistant(assistant) => Some(assistant.text())
            .filter(|text| !text.is_empty())
            .map(ModelMessage::Assistant),
    }
}

/// Adds what an answer that is continued has come to. Roles go on taking turns, as some models' templates demand.
fn go_on(branch: &mut Vec<ModelMessage>, begun: &AssistantMessage) {
    let text = begun.text();
    if !text.is_empty() {
        branch.extend([ModelMessage::Assistant(text), ModelMessage::User(GO_ON.into())]);
        return;
    }
    let thoughts: Vec<String> = begun.pieces().iter().map(|piece| piece.texts.concat()).collect();
    if let (false, Some(ModelMessage::User(question))) = (thoughts.is_empty(), branch.last_mut()) {
        // There is no role for thoughts without an answer.
        let thoughts = thoughts.join("\n\n");
        *question = format!(
            "{question}\n\n(You had begun to think about this and were cut off before you answered. Go on from where your thoughts \
             stop, and do not mention this. Your thoughts so far:\n\n{thoughts})"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{MessageId, Node, Part, Timestamp};

    fn thinking(text: &str) -> Part {
        Part::Thinking { text: text.into() }
    }

    fn text(text: &str) -> Part {
        Part::Text { text: text.into() }
    }

    /// What the model is shown when an answer with these nodes is continued.
    fn shown(nodes: &[&[Part]]) -> Vec<ModelMessage> {
        let question = Message {
            id: MessageId::new(),
            parent_id: None,
            created_at: Timestamp(0),
            body: MessageBody::User { text: "Why?".into() },
        };
        let mut begun = AssistantMessage::started("x/m");
        begun.nodes = nodes
            .iter()
            .map(|parts| Node {
                parts: parts.to_vec(),
            })
            .collect();
        messages_for(&[question], &begun)
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
            [ModelMessage::Assistant("Because the sk".into()), go_on.clone()]
        );
        // Cut off again, after it had thought once more: still one text.
        let again = shown(&[&[text("Because the sk")], &[thinking("Well."), text("y is bl")]]);
        assert_eq!(
            again[1..],
            [ModelMessage::Assistant("Because the sky is bl".into()), go_on]
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
}
