//! What stands in place of messages that are stored and can't be read.

use super::{AssistantMessage, MessageId, RunError, RunStatus};

impl AssistantMessage {
    /// An answer that is stored and can't be read, whose run has this status.
    pub fn damaged(id: MessageId, status: RunStatus) -> Self {
        let mut damaged = Self::new("");
        damaged.status = status;
        damaged.error = Some(RunError::damaged(id));
        damaged
    }

    /// Whether the answer, or a part of it, can't be read.
    pub fn is_damaged(&self) -> bool {
        self.error.as_ref().is_some_and(RunError::is_damage)
    }
}

impl RunError {
    const DAMAGED_CODE: &str = "damaged_message";

    /// What stands in place of an answer, or of a part of it, that is stored and can't be read.
    pub fn damaged(id: MessageId) -> Self {
        Self {
            code: Self::DAMAGED_CODE.into(),
            message: damaged_message_text(id),
            hint: String::new(),
        }
    }

    pub fn is_damage(&self) -> bool {
        self.code == Self::DAMAGED_CODE
    }
}

/// The words in place of a message that can't be read.
pub fn damaged_message_text(id: MessageId) -> String {
    ["This message is damaged and can't be shown. Id ", &id.to_string()].concat()
}
