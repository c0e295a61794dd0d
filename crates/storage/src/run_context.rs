//! The data that a run starts with.

use std::collections::HashMap;

use super::{PageContextSnapshot, projects::ProjectInUse};
use parlor_protocol::{AssistantMessage, Message, MessageId, Parameters, PayloadVerdict, PlacedProviderData};

/// The data that a run starts or continues with, as of one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct RunContext {
    /// The run's message so far.
    pub answer: AssistantMessage,
    /// The messages before it on its branch, oldest first.
    pub history: Vec<Message>,
    /// Provider-specific data of the answer and of the messages before it, by message, in order of arrival.
    pub provider_data: HashMap<MessageId, Vec<PlacedProviderData>>,
    /// The page that the user had open when they wrote the question. The run gets its description and its
    /// tools, however late the question is answered.
    pub context_snapshot: Option<PageContextSnapshot>,
    /// The user's verdicts on payloads, in the order in which they were given.
    pub verdicts: Vec<PayloadVerdict>,
    /// The user's instructions for the assistant in every conversation.
    pub instructions: String,
    /// The project of the conversation, with its files.
    pub project: Option<ProjectInUse>,
    /// True if the user lets the assistant search earlier conversations.
    pub may_search_chats: bool,
    /// True in a temporary conversation, of which nothing is remembered.
    pub is_temporary: bool,
    /// The tools that the user has allowed for the rest of the conversation.
    pub allowed_tools: Vec<String>,
    pub options: RunOptions,
}

/// The options of a run's model calls besides the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOptions {
    pub parameters: Parameters,
    /// The tools that the first call must use.
    pub force_tools: Vec<String>,
    /// The stored summaries of the beginning of the conversation, on any branch.
    pub summaries: Vec<HistorySummary>,
}

/// A summary that replaces the beginning of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistorySummary {
    /// The last message that the summary covers.
    pub last_message_id: MessageId,
    pub text: String,
}
