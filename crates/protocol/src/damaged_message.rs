//! Placeholders for stored messages that can't be read.

use super::{AssistantMessage, MessageId, RunError, RunStatus};

impl AssistantMessage {
    /// Creates the placeholder of a stored answer that can't be read. Its run has this status.
    pub fn damaged(id: MessageId, status: RunStatus) -> Self {
        let mut damaged = Self::new("");
        damaged.status = status;
        damaged.error = Some(RunError::damaged(id));
        damaged
    }

    /// Returns true if the answer, or a part of it, can't be read.
    pub fn is_damaged(&self) -> bool {
        self.error.as_ref().is_some_and(RunError::is_damage)
    }
}

impl RunError {
    const DAMAGED_CODE: &str = "damaged_message";

    /// Creates the error of a stored answer of which the whole or a part can't be read.
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

/// The text shown in place of a message that can't be read.
pub fn damaged_message_text(id: MessageId) -> String {
    ["This message is damaged and can't be shown. Id ", &id.to_string()].concat()
}
