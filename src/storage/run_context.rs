//! What a run begins with.

use std::collections::HashMap;

use super::PageContextSnapshot;
use crate::protocol::{AssistantMessage, Message, MessageId, Parameters, PayloadVerdict, PlacedOpaque};

/// What a run begins with, or goes on with, as of one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct RunContext {
    /// What it has come to so far.
    pub answer: AssistantMessage,
    /// The messages that lead to it, oldest first.
    pub history: Vec<Message>,
    /// Data of the answer and of those that lead to it that only providers understand, by message, in the order in which it came.
    pub opaque: HashMap<MessageId, Vec<PlacedOpaque>>,
    /// What the person looked at when they wrote the message that the run answers: it is told of it, and has its tools, however
    /// late it is answered.
    pub context_snapshot: Option<PageContextSnapshot>,
    /// What the person has accepted and rejected of what was made for the panel, in their order.
    pub verdicts: Vec<PayloadVerdict>,
    /// What the person wants the assistant to be told in every conversation.
    pub instructions: String,
    /// The tools that the person has allowed once for all in the conversation.
    pub allowed_tools: Vec<String>,
    pub options: RunOptions,
}

/// How a run's model is called, besides what it is shown of the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOptions {
    pub parameters: Parameters,
    /// Tools that its first call has to use.
    pub force_tools: Vec<String>,
    /// What was made to stand for the beginning of the conversation, on whichever branch.
    pub summaries: Vec<HistorySummary>,
}

/// What stands for the beginning of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistorySummary {
    /// The last message that is in it.
    pub last_message_id: MessageId,
    pub text: String,
}
