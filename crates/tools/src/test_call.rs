//! The context of a tool call, for tests of tools.

use tokio::sync::watch;

use super::{ProgressReporter, ToolContext, UsageMeter};
use parlor_protocol::{ConversationId, MessageId, ToolProgress, UserId};

/// Returns the context of a user's call, and a receiver of the tool's latest progress.
pub fn call_by(user_id: UserId) -> (ToolContext, watch::Receiver<Option<ToolProgress>>) {
    let (sender, receiver) = watch::channel(None);
    let call = ToolContext {
        user_id,
        conversation_id: ConversationId::new(),
        run: MessageId::new(),
        index: 0,
        page: None,
        files: [].into(),
        progress: ProgressReporter(sender),
        usage: UsageMeter::default(),
    };
    (call, receiver)
}

/// Returns the context of a call whose progress is ignored.
pub fn call() -> ToolContext {
    call_by(UserId::LOCAL).0
}
