//! The changes of the cached conversations whose signals are not updated yet.

use parlor_protocol::{ConversationId, MessageId, transcript::TranscriptUpdate};

/// The changes since the last update.
#[derive(Debug, Default)]
pub struct PendingChanges {
    pub conversations: Vec<ConversationId>,
    pub answers: Vec<AnswerChange>,
}

/// A change of one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerChange {
    pub conversation_id: ConversationId,
    pub message_id: MessageId,
    pub extent: AnswerExtent,
}

/// The part of an answer that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerExtent {
    Anything,
    /// Only the texts of these parts, which are longer now.
    Grown(Vec<GrownPart>),
}

/// A part whose text is longer than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrownPart {
    pub node: usize,
    pub part: usize,
    /// The length of its text at the last update, in bytes.
    pub from: usize,
}

impl PendingChanges {
    pub fn is_empty(&self) -> bool {
        self.conversations.is_empty() && self.answers.is_empty()
    }

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
            // A new part, or another state of a call.
            TranscriptUpdate::Run(message_id)
            | TranscriptUpdate::Part {
                message_id, from: 0, ..
            } => {
                self.add_answer(id, message_id).extent = AnswerExtent::Anything;
            }
            TranscriptUpdate::Part {
                message_id,
                node,
                part,
                from,
            } => {
                if let AnswerExtent::Grown(parts) = &mut self.add_answer(id, message_id).extent
                    && !parts.iter().any(|grown| (grown.node, grown.part) == (node, part))
                {
                    parts.push(GrownPart { node, part, from });
                }
            }
        }
    }

    fn add_answer(&mut self, conversation_id: ConversationId, message_id: MessageId) -> &mut AnswerChange {
        let is_it = |change: &AnswerChange| {
            change.conversation_id == conversation_id && change.message_id == message_id
        };
        let index = self.answers.iter().position(is_it).unwrap_or_else(|| {
            self.answers.push(AnswerChange {
                conversation_id,
                message_id,
                extent: AnswerExtent::Grown(Vec::new()),
            });
            self.answers.len() - 1
        });
        &mut self.answers[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grown(message_id: MessageId, part: usize, from: usize) -> TranscriptUpdate {
        TranscriptUpdate::Part {
            message_id,
            node: 0,
            part,
            from,
        }
    }

    fn extents(updates: &[TranscriptUpdate]) -> Vec<AnswerExtent> {
        let (mut changes, id) = (PendingChanges::default(), ConversationId::new());
        for update in updates {
            changes.add(id, *update);
        }
        changes.answers.into_iter().map(|change| change.extent).collect()
    }

    #[test]
    fn growth_counts_from_the_last_update() {
        let (first, second) = (MessageId::new(), MessageId::new());
        let updates = [
            grown(first, 0, 3),
            grown(first, 0, 5),
            grown(second, 0, 9),
            grown(first, 1, 7),
        ];
        let part = |part, from| GrownPart { node: 0, part, from };
        assert_eq!(
            extents(&updates),
            [
                AnswerExtent::Grown(vec![part(0, 3), part(1, 7)]),
                AnswerExtent::Grown(vec![part(0, 9)])
            ]
        );
    }

    #[test]
    fn other_changes_include_growth() {
        let id = MessageId::new();
        for other in [TranscriptUpdate::Run(id), grown(id, 1, 0)] {
            assert_eq!(extents(&[grown(id, 0, 3), other]), [AnswerExtent::Anything]);
            assert_eq!(extents(&[other, grown(id, 0, 3)]), [AnswerExtent::Anything]);
        }
    }
}
