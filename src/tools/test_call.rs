//! A call of a tool, for the tests of tools.

use tokio::sync::watch;

use super::{Call, Progress};
use crate::protocol::{ConversationId, MessageId, ToolProgress, UserId};

/// A call by a user, and the place where the tool's latest word is heard.
pub fn by(user_id: UserId) -> (Call, watch::Receiver<Option<ToolProgress>>) {
    let (said, heard) = watch::channel(None);
    let call = Call {
        user_id,
        conversation_id: ConversationId::new(),
        run: MessageId::new(),
        progress: Progress(said),
    };
    (call, heard)
}

/// A call that nobody listens to.
pub fn call() -> Call {
    by(UserId::LOCAL).0
}
