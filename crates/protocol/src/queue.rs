//! The queue of a conversation: messages that wait for the end of its run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Attachment, MessageId, Timestamp, flat_json::Fields};

/// A message of the user that is sent when the run and the messages before it have ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct QueuedMessage {
    /// The id that the user's message will have.
    pub id: MessageId,
    pub text: String,
    /// The files of the message, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Attachment>,
    pub created_at: Timestamp,
}

/// The messages of a queue in their order, and whether they wait for the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct MessageQueue {
    pub messages: Vec<QueuedMessage>,
    /// The last run was stopped, failed or was interrupted: nothing is sent before the user releases the queue.
    pub held: bool,
}

impl MessageQueue {
    /// Adds a message at the end, or replaces the one with its id.
    pub(super) fn insert(&mut self, queued: QueuedMessage) {
        match self.messages.iter_mut().find(|other| other.id == queued.id) {
            Some(known) => *known = queued,
            None => self.messages.push(queued),
        }
    }

    /// Removes a message. An empty queue is not held.
    pub(super) fn remove(&mut self, id: MessageId) {
        self.messages.retain(|queued| queued.id != id);
        self.held &= !self.messages.is_empty();
    }

    /// Puts the messages in this order and removes the others. The content of a removed message may be gone from
    /// the log already, so an unknown id is skipped.
    pub(super) fn arrange(&mut self, ids: &[MessageId], held: bool) {
        let mut known = std::mem::take(&mut self.messages);
        let mut take = |id: &MessageId| {
            let index = known.iter().position(|queued| queued.id == *id)?;
            Some(known.swap_remove(index))
        };
        self.messages = ids.iter().filter_map(&mut take).collect();
        self.held = held;
    }
}
