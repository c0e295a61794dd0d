//! What the model is shown: the branch of the conversation that leads to the run.

use crate::{
    protocol::{Message, MessageBody, MessageId, Transcript},
    providers::ModelMessage,
};

/// The messages before `run`, oldest first. Answers that came to nothing are left out.
pub(super) fn messages_before(transcript: &Transcript, run: MessageId) -> Vec<ModelMessage> {
    let mut branch = Vec::new();
    let mut next = transcript.message(run).and_then(|message| message.parent_id);
    while let Some(message) = next.and_then(|id| transcript.message(id)) {
        branch.extend(as_shown(message));
        next = message.parent_id;
    }
    branch.reverse();
    branch
}

fn as_shown(message: &Message) -> Option<ModelMessage> {
    match &message.body {
        MessageBody::User { text } => Some(ModelMessage::User(text.clone())),
        MessageBody::Assistant(assistant) => Some(assistant.text())
            .filter(|text| !text.is_empty())
            .map(ModelMessage::Assistant),
    }
}
