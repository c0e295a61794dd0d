//! Messages: what a conversation is made of. They form a tree through `parent_id`.

use serde::{Deserialize, Serialize};

use super::{
    MessageId, Timestamp,
    flat::{FlatMessage, FlatPart},
};

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "FlatMessage")]
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
#[serde(tag = "role", rename_all = "snake_case")]
pub enum MessageBody {
    /// Written by the person.
    User { text: String },
    /// Produced by a run.
    Assistant(AssistantMessage),
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
    /// When the run ended; `None` while it has not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

/// The output of one model call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub parts: Vec<Part>,
}

/// A piece of a node. Its place in the node is the order in which the model produced it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "FlatPart")]
pub enum Part {
    /// The model's reasoning, as Markdown.
    Thinking { text: String },
    /// The answer, as Markdown.
    Text { text: String },
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
            MessageBody::User { .. } => None,
        }
    }

    /// The run's output, if this is an assistant message.
    pub fn assistant_mut(&mut self) -> Option<&mut AssistantMessage> {
        match &mut self.body {
            MessageBody::Assistant(assistant) => Some(assistant),
            MessageBody::User { .. } => None,
        }
    }
}

impl AssistantMessage {
    /// A run's message before the run has produced anything.
    pub fn started(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            status: RunStatus::Running,
            nodes: Vec::new(),
            activity: None,
            error: None,
            ended_at: None,
        }
    }

    /// All text parts, in order, without the thinking: what the public contract calls `message`.
    pub fn text(&self) -> String {
        let parts = self.nodes.iter().flat_map(|node| &node.parts);
        let texts: Vec<&str> = parts
            .filter_map(|part| match part {
                Part::Text { text } => Some(text.as_str()),
                Part::Thinking { .. } => None,
            })
            .collect();
        texts.join("\n\n")
    }

    /// Whether there is anything to show yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.iter().all(|node| node.parts.is_empty())
    }
}

impl Part {
    /// The part's text, of whichever kind.
    pub fn text(&self) -> &str {
        match self {
            Self::Thinking { text } | Self::Text { text } => text,
        }
    }
}
