//! Messages: what a conversation is made of. They form a tree through `parent_id`.

use serde::{Deserialize, Serialize};

use super::{
    CitedSource, FinishReason, Interaction, MessageId, PayloadRef, SuggestedAction, SuggestedValue,
    Timestamp, ToolCall, ToolStatus, Usage, flat_json::Fields,
};

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct Message {
    pub id: MessageId,
    /// The message that this one answers or follows; `None` for a conversation's first.
    pub parent_id: Option<MessageId>,
    pub created_at: Timestamp,
    #[serde(flatten)]
    pub body: MessageBody,
}

/// What differs by who wrote the message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case", try_from = "Fields")]
// There are as many answers as questions, and a box would be one more thing to read in the browser.
#[allow(clippy::large_enum_variant)]
pub enum MessageBody {
    /// Written by the person.
    User {
        text: String,
        #[serde(flatten)]
        interaction: Interaction,
    },
    /// Produced by a run.
    Assistant(AssistantMessage),
    /// A person's message that is stored and can't be read. An answer like that is [`AssistantMessage::damaged`].
    Damaged,
}

/// What a run has produced, and where the run stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// The model that answers, as `endpoint/model`.
    pub model: String,
    pub status: RunStatus,
    /// One node a model call, in order.
    pub nodes: Vec<Node>,
    /// What the run is doing while nothing of it can be shown yet, such as "Thinking...".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<String>,
    /// Why the run failed or was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
    /// Why the model stopped, once the run has ended; `None` if it never said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<FinishReason>,
    /// What the person may want to say next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggested_values: Vec<SuggestedValue>,
    /// What the person may want done next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggested_actions: Vec<SuggestedAction>,
    /// Where the answer has it from: what its tools really had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<CitedSource>,
    /// What the latest call of the model came to, once that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// When the run ended; `None` while it has not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// How long the run has been at work, in milliseconds, as far as it was said: what a crash broke off, and the time for which it
    /// waited for a person, are no part of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub worked_ms: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The output of one model call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub parts: Vec<Part>,
}

/// A piece of a node. Its place in the node is the order in which the model produced it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "Fields")]
pub enum Part {
    /// The model's reasoning, as Markdown.
    Thinking { text: String },
    /// The answer, as Markdown.
    Text { text: String },
    /// A tool that the model asked for.
    ToolCall(Box<ToolCall>),
    /// What the model has made for the panel.
    Payload { payload: PayloadRef },
}

/// Something that is shown as one: a part, or a text with what continues it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagePiece<'a> {
    /// The node and the part in which it begins.
    pub key: (usize, usize),
    pub kind: MessagePieceKind<'a>,
    /// What it says; a tool call or a payload says nothing.
    pub texts: Vec<&'a str>,
}

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessagePieceKind<'a> {
    Thinking,
    Text,
    ToolCall(&'a ToolCall),
    Payload(&'a PayloadRef),
}

impl<'a> MessagePiece<'a> {
    /// The text after its first `bytes` bytes; `None` if it is not that long, or a character would be cut.
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

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// A task on the server works on it.
    Running,
    /// It waits for a person's approval; no task, no time limit.
    Waiting,
    /// The model finished its answer.
    Complete,
    /// A person stopped it.
    Stopped,
    /// The model server, or Parlor, named an error.
    Failed,
    /// It broke off: the connection, or Parlor itself, went away in the middle.
    Interrupted,
}

/// Why a run ended without completing: what happened and what to do, in words for the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunError {
    /// Stable and machine-readable, such as `key_refused`.
    pub code: String,
    /// What happened, naming the endpoint.
    pub message: String,
    /// What to do about it, naming the setting; empty when there is nothing to do but try again.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
}

impl RunStatus {
    /// Whether the run has come to its end: the one place where that is decided.
    pub fn is_terminal(self) -> bool {
        !matches!(self, Self::Running | Self::Waiting)
    }

    /// Whether a person who was not looking should hear of this end. Their own stop is no news.
    pub fn is_notifiable(self) -> bool {
        self.is_terminal() && self != Self::Stopped
    }

    /// The name on the wire and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Complete => "complete",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
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

    /// The run's output, if this is an assistant message.
    pub fn assistant_mut(&mut self) -> Option<&mut AssistantMessage> {
        match &mut self.body {
            MessageBody::Assistant(assistant) => Some(assistant),
            MessageBody::User { .. } | MessageBody::Damaged => None,
        }
    }
}

impl AssistantMessage {
    /// A run's message before the run has produced anything.
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
        }
    }

    /// All that was produced, as it is shown.
    ///
    /// A text that was broken off goes on in the next node when its run is continued, though the model may think before that:
    /// the two are one piece.
    pub fn pieces(&self) -> Vec<MessagePiece<'_>> {
        let mut pieces: Vec<MessagePiece<'_>> = Vec::new();
        for (node_index, node) in self.nodes.iter().enumerate() {
            let mut broken_off = node_index
                .checked_sub(1)
                .and_then(|before| self.nodes[before].parts.last())
                .filter(|last| matches!(last, Part::Text { .. }))
                .and_then(|_| {
                    pieces
                        .iter()
                        .rposition(|piece| piece.kind == MessagePieceKind::Text)
                });
            for (part_index, part) in node.parts.iter().enumerate() {
                let kind = match part {
                    Part::Thinking { .. } => MessagePieceKind::Thinking,
                    Part::Text { .. } => MessagePieceKind::Text,
                    Part::ToolCall(call) => MessagePieceKind::ToolCall(call),
                    Part::Payload { payload } => MessagePieceKind::Payload(payload),
                };
                match broken_off {
                    Some(index) if kind == MessagePieceKind::Text => {
                        pieces[index].texts.push(part.text());
                        broken_off = None;
                        continue;
                    }
                    // What comes after a call is another text.
                    Some(_) if kind != MessagePieceKind::Thinking => broken_off = None,
                    _ => {}
                }
                pieces.push(MessagePiece {
                    key: (node_index, part_index),
                    kind,
                    texts: vec![part.text()],
                });
            }
        }
        pieces
    }

    /// All text, in order, without the thinking: what the public contract calls `message`.
    pub fn text(&self) -> String {
        let pieces = self.pieces().into_iter();
        let texts = pieces.filter(|piece| piece.kind == MessagePieceKind::Text);
        texts
            .map(|piece| piece.texts.concat())
            .collect::<Vec<_>>()
            .join("\n\n")
    }

    /// The tool calls, in the order in which the model asked.
    pub fn tool_calls(&self) -> impl DoubleEndedIterator<Item = &ToolCall> {
        let parts = self.nodes.iter().flat_map(|node| &node.parts);
        parts.filter_map(|part| match part {
            Part::ToolCall(call) => Some(&**call),
            Part::Thinking { .. } | Part::Text { .. } | Part::Payload { .. } => None,
        })
    }

    /// The same, to change them.
    pub fn tool_calls_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut ToolCall> {
        let parts = self.nodes.iter_mut().flat_map(|node| &mut node.parts);
        parts.filter_map(|part| match part {
            Part::ToolCall(call) => Some(&mut **call),
            Part::Thinking { .. } | Part::Text { .. } | Part::Payload { .. } => None,
        })
    }

    /// All that was made for the panel.
    pub fn payloads(&self) -> impl Iterator<Item = &PayloadRef> {
        let parts = self.nodes.iter().flat_map(|node| &node.parts);
        parts.filter_map(|part| match part {
            Part::ToolCall(call) => call.payload.as_ref(),
            Part::Payload { payload } => Some(payload),
            Part::Thinking { .. } | Part::Text { .. } => None,
        })
    }

    /// Whether a person is asked something that only they can answer.
    pub fn is_waiting_for_person(&self) -> bool {
        self.tool_calls().any(|call| call.status == ToolStatus::Waiting)
    }

    /// Whether it is complete, and yet there is more to come: the model stopped at a limit.
    pub fn is_cut_short(&self) -> bool {
        self.status == RunStatus::Complete
            && self
                .finish_reason
                .as_ref()
                .is_some_and(FinishReason::is_cut_short)
    }

    /// Whether there is anything to show yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.iter().all(|node| node.parts.is_empty())
    }
}

impl Part {
    /// The part's text, of whichever kind; a tool call has none.
    pub fn text(&self) -> &str {
        match self {
            Self::Thinking { text } | Self::Text { text } => text,
            Self::ToolCall(_) | Self::Payload { .. } => "",
        }
    }
}
