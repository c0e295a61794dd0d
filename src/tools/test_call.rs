//! A call of a tool, for the tests of tools.

use tokio::sync::watch;

use super::{ProgressReporter, ToolContext};
use crate::protocol::{ConversationId, MessageId, ToolProgress, UserId};

/// A call by a user, and the place where the tool's latest word is heard.
pub fn call_by(user_id: UserId) -> (ToolContext, watch::Receiver<Option<ToolProgress>>) {
    let (said, heard) = watch::channel(None);
    let call = ToolContext {
        user_id,
        conversation_id: ConversationId::new(),
        run: MessageId::new(),
        progress: ProgressReporter(said),
    };
    (call, heard)
}

/// A call that nobody listens to.
pub fn call() -> ToolContext {
    call_by(UserId::LOCAL).0
}
