//! Messages: the contents of a conversation. They form a tree through `parent_id`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Attachment, AttachmentId, CitedSource, FileProblem, FinishReason, Interaction, MessageId, PayloadRef,
    RunError, RunStatus, SuggestedAction, SuggestedValue, Timestamp, ToolCall, ToolStatus, Usage,
    flat_json::Fields, interaction::ScheduledMessage, tool_kind::NOTHING_NEW,
};

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct Message {
    pub id: MessageId,
    /// The message that this one answers or follows; null for a conversation's first.
    pub parent_id: Option<MessageId>,
    pub created_at: Timestamp,
    #[serde(flatten)]
    pub body: MessageBody,
}

/// The part of a message that depends on its author.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "role", rename_all = "snake_case", try_from = "Fields")]
#[allow(
    clippy::large_enum_variant,
    reason = "as many answers as questions, and a box is one more type to deserialize in the browser"
)]
#[schemars(!try_from)]
pub enum MessageBody {
    /// A message of the user.
    User {
        text: String,
        /// The files of the message, in their order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<Attachment>,
        #[serde(flatten)]
        interaction: Interaction,
    },
    /// An answer. Its id is that of its run.
    Assistant(AssistantMessage),
    /// A stored message of the user that can't be read. An unreadable answer has an error with the code `damaged_message`.
    Damaged,
}

/// The code of the error of a run whose Python session could not be restored.
pub const SESSION_NOT_RESTORED: &str = "session_not_restored";

/// A run's activity while it waits for the model, whether that thinks or not.
pub const WAITING_FOR_MODEL: &str = "Thinking...";

/// The output of a run, and its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AssistantMessage {
    /// The model that answers, as `endpoint/model`.
    pub model: String,
    pub status: RunStatus,
    /// One node per model call, in order.
    pub nodes: Vec<Node>,
    /// The run's activity while there is no output to show, such as "Thinking...".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<String>,
    /// The error of a run that failed or was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
    /// The reason for which the model stopped, once the run has ended; missing if the model server never named
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<FinishReason>,
    /// Values that the user may want to send next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggested_values: Vec<SuggestedValue>,
    /// Actions that the user may want to take next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggested_actions: Vec<SuggestedAction>,
    /// The sources of the answer: only those that its tools really returned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<CitedSource>,
    /// The token usage of the latest model call, once it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The end of the run; missing before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The time for which the run has been active, in milliseconds, as far as events report it. It leaves out
    /// periods that a crash cut off and the time of waiting for the user.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub worked_ms: u64,
    /// The part of that in which the model was thinking, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub thought_ms: u64,
    /// The number of times that the run has gone on by itself after a crash or restart of the server, since a person started
    /// or continued it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resumptions: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The output of one model call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    pub parts: Vec<Part>,
}

/// A part of a node. Parts are in the order in which the model produced them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "Fields")]
#[schemars(!try_from)]
pub enum Part {
    /// The model's thinking, as Markdown.
    Thinking { text: String },
    /// The answer, as Markdown.
    Text { text: String },
    /// A tool call.
    ToolCall(Box<ToolCall>),
    /// A payload that the model made for the panel.
    Payload { payload: PayloadRef },
    /// An image that the model made.
    File { file: Attachment },
}

/// A unit of display: a part, or a text together with its continuation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinedPart<'a> {
    /// The indices of the node and the part in which it begins.
    pub key: (usize, usize),
    pub kind: JoinedPartKind<'a>,
    /// The texts; none for a tool call, a payload or a file.
    pub texts: Vec<&'a str>,
}

/// The kind of a joined part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinedPartKind<'a> {
    Thinking,
    Text,
    ToolCall(&'a ToolCall),
    Payload(&'a PayloadRef),
    File(&'a Attachment),
}

impl<'a> JoinedPart<'a> {
    /// Returns the text after its first `bytes` bytes; `None` if it is shorter, or a character would be cut.
    pub fn texts_after(&self, mut bytes: usize) -> Option<Vec<&'a str>> {
        let mut after = Vec::new();
        for text in &self.texts {
            let skipped = bytes.min(text.len());
            bytes -= skipped;
            let rest = text.get(skipped..)?;
            if !rest.is_empty() {
                after.push(rest);
            }
        }
        (bytes == 0).then_some(after)
    }
}

impl Message {
    /// The run's output, if this is an assistant message.
    pub fn assistant(&self) -> Option<&AssistantMessage> {
        match &self.body {
            MessageBody::Assistant(assistant) => Some(assistant),
            MessageBody::User { .. } | MessageBody::Damaged => None,
        }
    }

    /// Returns its schedule, if this is the message of one.
    pub fn scheduled(&self) -> Option<&ScheduledMessage> {
        match &self.body {
            MessageBody::User {
                interaction: Interaction::Scheduled(scheduled),
                ..
            } => Some(scheduled),
            MessageBody::User { .. } | MessageBody::Assistant(_) | MessageBody::Damaged => None,
        }
    }

    /// The files of the message, in their order: those of the user, or those of the answer and its tools.
    pub fn files(&self) -> Vec<&Attachment> {
        match &self.body {
            MessageBody::User { files, .. } => files.iter().collect(),
            MessageBody::Assistant(answer) => answer.files().collect(),
            MessageBody::Damaged => Vec::new(),
        }
    }

    /// Marks those of its files that were deleted. Returns true if there are any.
    pub fn mark_deleted_files(&mut self, ids: &[AttachmentId]) -> bool {
        let mark = |file: &mut Attachment| {
            let is_deleted = ids.contains(&file.id);
            if is_deleted {
                file.problem = Some(FileProblem::Deleted);
            }
            is_deleted
        };
        let marked: Vec<bool> = match &mut self.body {
            MessageBody::User { files, .. } => files.iter_mut().map(mark).collect(),
            MessageBody::Assistant(answer) => answer.files_mut().map(mark).collect(),
            MessageBody::Damaged => Vec::new(),
        };
        marked.contains(&true)
    }

    /// The run's output, if this is an assistant message.
    pub fn assistant_mut(&mut self) -> Option<&mut AssistantMessage> {
        match &mut self.body {
            MessageBody::Assistant(assistant) => Some(assistant),
            MessageBody::User { .. } | MessageBody::Damaged => None,
        }
    }
}

impl AssistantMessage {
    /// Creates a run's message before the run has produced anything.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            status: RunStatus::Running,
            nodes: Vec::new(),
            activity: None,
            error: None,
            finish_reason: None,
            suggested_values: Vec::new(),
            suggested_actions: Vec::new(),
            sources: Vec::new(),
            usage: None,
            ended_at: None,
            worked_ms: 0,
            resumptions: 0,
            thought_ms: 0,
        }
    }

    /// Returns the whole output as it is shown.
    ///
    /// A text that was cut off continues in the next node when its run is continued, possibly after some
    /// thinking. The two texts are one part then.
    pub fn joined_parts(&self) -> Vec<JoinedPart<'_>> {
        let mut joined_parts: Vec<JoinedPart<'_>> = Vec::new();
        for (node_index, node) in self.nodes.iter().enumerate() {
            let mut cut_off = node_index
                .checked_sub(1)
                .and_then(|before| self.nodes[before].parts.last())
                .filter(|last| matches!(last, Part::Text { .. }))
                .and_then(|_| {
                    joined_parts
                        .iter()
                        .rposition(|joined| joined.kind == JoinedPartKind::Text)
                });
            for (part_index, part) in node.parts.iter().enumerate() {
                let kind = match part {
                    Part::Thinking { .. } => JoinedPartKind::Thinking,
                    Part::Text { .. } => JoinedPartKind::Text,
                    Part::ToolCall(call) => JoinedPartKind::ToolCall(call),
                    Part::Payload { payload } => JoinedPartKind::Payload(payload),
                    Part::File { file } => JoinedPartKind::File(file),
                };
                match cut_off {
                    Some(index) if kind == JoinedPartKind::Text => {
                        joined_parts[index].texts.push(part.text());
                        cut_off = None;
                        continue;
                    }
                    // A text after a tool call is a new one.
                    Some(_) if kind != JoinedPartKind::Thinking => cut_off = None,
                    _ => {}
                }
                joined_parts.push(JoinedPart {
                    key: (node_index, part_index),
                    kind,
                    texts: vec![part.text()],
                });
            }
        }
        joined_parts
    }

    /// All text, in order, without the thinking: the `message` of the public contract.
    pub fn text(&self) -> String {
        let joined_parts = self.joined_parts().into_iter();
        let texts = joined_parts.filter(|joined| joined.kind == JoinedPartKind::Text);
        texts
            .map(|joined| joined.texts.concat())
            .collect::<Vec<_>>()
            .join("\n\n")
    }

    /// The tool calls, in the order in which the model made them.
    pub fn tool_calls(&self) -> impl DoubleEndedIterator<Item = &ToolCall> {
        let parts = self.nodes.iter().flat_map(|node| &node.parts);
        parts.filter_map(|part| match part {
            Part::ToolCall(call) => Some(&**call),
            Part::Thinking { .. } | Part::Text { .. } | Part::Payload { .. } | Part::File { .. } => None,
        })
    }

    /// Returns true if the answer of a schedule said that there is nothing new.
    pub fn found_nothing_new(&self) -> bool {
        self.tool_calls()
            .any(|call| call.tool == NOTHING_NEW.name && call.status == ToolStatus::Complete)
    }

    /// The tool calls, mutable, in the order in which the model made them.
    pub fn tool_calls_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut ToolCall> {
        let parts = self.nodes.iter_mut().flat_map(|node| &mut node.parts);
        parts.filter_map(|part| match part {
            Part::ToolCall(call) => Some(&mut **call),
            Part::Thinking { .. } | Part::Text { .. } | Part::Payload { .. } | Part::File { .. } => None,
        })
    }

    /// The files of the answer and of its tools, in their order.
    pub fn files(&self) -> impl Iterator<Item = &Attachment> {
        let parts = self.nodes.iter().flat_map(|node| &node.parts);
        parts.flat_map(|part| match part {
            Part::ToolCall(call) => &call.attachments[..],
            Part::File { file } => std::slice::from_ref(file),
            Part::Thinking { .. } | Part::Text { .. } | Part::Payload { .. } => &[],
        })
    }

    fn files_mut(&mut self) -> impl Iterator<Item = &mut Attachment> {
        let parts = self.nodes.iter_mut().flat_map(|node| &mut node.parts);
        parts.flat_map(|part| match part {
            Part::ToolCall(call) => &mut call.attachments[..],
            Part::File { file } => std::slice::from_mut(file),
            Part::Thinking { .. } | Part::Text { .. } | Part::Payload { .. } => &mut [],
        })
    }

    /// All payloads that were made for the panel.
    pub fn payloads(&self) -> impl Iterator<Item = &PayloadRef> {
        let parts = self.nodes.iter().flat_map(|node| &node.parts);
        parts.filter_map(|part| match part {
            Part::ToolCall(call) => call.payload.as_ref(),
            Part::Payload { payload } => Some(payload),
            Part::Thinking { .. } | Part::Text { .. } | Part::File { .. } => None,
        })
    }

    /// Returns true if a tool call waits for the user's approval.
    pub fn is_waiting_for_user(&self) -> bool {
        self.tool_calls().any(|call| call.status == ToolStatus::Waiting)
    }

    /// Returns true if the answer is complete and the model stopped at a limit, so that there may be more.
    pub fn is_cut_short(&self) -> bool {
        self.status == RunStatus::Complete
            && self
                .finish_reason
                .as_ref()
                .is_some_and(FinishReason::is_cut_short)
    }

    /// Returns true if there is nothing to show yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.iter().all(|node| node.parts.is_empty())
    }
}

impl Part {
    /// The text of any kind of part; empty for a tool call, a payload or a file.
    pub fn text(&self) -> &str {
        match self {
            Self::Thinking { text } | Self::Text { text } => text,
            Self::ToolCall(_) | Self::Payload { .. } | Self::File { .. } => "",
        }
    }
}
