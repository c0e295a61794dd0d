//! Sessions that tools keep for conversations, such as those of Python. Their state is made by calls, so it is restored by
//! repeating them.

use parlor_protocol::{Attachment, ConversationId, MessageId, ToolCall, ToolStatus, UserId};

/// A call that has changed a session: its run, and its number in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepId {
    pub run: MessageId,
    pub call: usize,
}

/// A call that has ended, for its replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedCall {
    /// True if the call has returned an error.
    pub has_failed: bool,
    /// The output for the model.
    pub output: String,
    /// The payload that it has made.
    pub payload_id: Option<String>,
}

impl FinishedCall {
    /// Returns a call of the log that has ended by itself; `None` for others.
    pub fn from_call(call: &ToolCall) -> Option<Self> {
        let has_failed = match call.status {
            ToolStatus::Complete => false,
            ToolStatus::Failed => true,
            _ => return None,
        };
        Some(Self {
            has_failed,
            output: call.output.clone()?,
            payload_id: call.payload.as_ref().map(|payload| payload.payload_id.clone()),
        })
    }
}

/// The effect of a repeated call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayedCall {
    /// A difference from the first time, in a sentence for the model.
    pub difference: Option<String>,
}

/// The sessions of a conversation in use. None of them is ended for its age or for others until this is dropped.
pub type SessionHold = Box<dyn Send + Sync>;

/// The keeper of the sessions.
pub trait SessionKeeper: Send + Sync {
    /// Returns `true` if sessions can be had now.
    fn is_available(&self) -> bool;

    /// Returns the number of these steps that made the state of a conversation's session. A session that has taken others, has
    /// other files than these, or is gone, is ended: 0.
    fn taken_steps(&self, conversation_id: ConversationId, steps: &[StepId], files: &[Attachment]) -> usize;

    /// Returns `true` if a call has ended its session, as far as known, and is left out of a restoration.
    fn is_fatal_step(&self, conversation_id: ConversationId, step: StepId) -> bool;

    /// Keeps the session of a conversation, also one that is yet to start.
    fn hold(&self, conversation_id: ConversationId) -> SessionHold;

    /// Returns `true` if a tool with this name runs code in a session. Who is offered none of them has no session.
    fn runs_code(&self, tool: &str) -> bool;

    /// Ends the session of a conversation, if there is one.
    fn end(&self, conversation_id: ConversationId);

    /// Ends the session of a conversation that is deleted, and forgets what is known of its calls.
    fn forget(&self, conversation_id: ConversationId);

    /// Ends the sessions of a user, and forgets what is known of the user's calls.
    fn end_of_user(&self, user_id: UserId);
}
