//! The changes of the cached conversations whose signals are not updated yet.

use parlor_protocol::{ConversationId, MessageId, transcript::TranscriptUpdate};

/// The changes since the last update.
#[derive(Debug, Default)]
pub struct PendingChanges {
    pub conversations: Vec<ConversationId>,
    pub messages: Vec<(ConversationId, MessageId)>,
}

impl PendingChanges {
    /// Adds a whole conversation.
    pub fn add_conversation(&mut self, id: ConversationId) {
        if !self.conversations.contains(&id) {
            self.conversations.push(id);
        }
    }

    /// Adds a change of a transcript.
    pub fn add(&mut self, id: ConversationId, update: TranscriptUpdate) {
        match update {
            TranscriptUpdate::Nothing => {}
            TranscriptUpdate::Conversation | TranscriptUpdate::Messages => self.add_conversation(id),
            TranscriptUpdate::Run(message)
            | TranscriptUpdate::Part {
                message_id: message, ..
            } => {
                if !self.messages.contains(&(id, message)) {
                    self.messages.push((id, message));
                }
            }
        }
    }
}
