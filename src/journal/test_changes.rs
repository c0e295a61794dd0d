//! Changes for the tests of the journal.

use super::QueuedChange;
use crate::{
    protocol::{ConversationId, EventBody, MessageId, UserId},
    storage::{Change, RunKey},
};

/// Returns a new run of a user.
pub(super) fn run_key(user_id: UserId) -> RunKey {
    RunKey {
        user_id,
        conversation_id: ConversationId::new(),
        message_id: MessageId::new(),
    }
}

/// Returns the delta of an answer's first text.
pub(super) fn text_delta(offset: usize, text: &str) -> EventBody {
    EventBody::TextDelta {
        node: 0,
        part: 0,
        offset,
        text: text.into(),
    }
}

/// Returns a queued event of a run.
pub(super) fn append_entry(run: RunKey, event: EventBody) -> QueuedChange {
    QueuedChange {
        change: Change::AppendEvents {
            run,
            events: vec![event],
        },
        reply: None,
        slots: 1,
    }
}
