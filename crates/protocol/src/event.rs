//! Events: every change to what a user sees, in one ordered log per user.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Attachment, CitedSource, ConversationId, FinishReason, Interaction, MessageId, Parameters, PayloadRef,
    QueuedMessage, RawJson, RequestedCall, RunError, RunStatus, SuggestedAction, SuggestedValue, Timestamp,
    ToolProgress, ToolStatus, Usage, Verdict, flat_json::Fields,
};

/// A position in a user's log: 1, 2, 3 … without gaps. 0 is before the first event.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Position(pub u64);

impl Position {
    /// The position that follows this one.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// One entry of a user's log: the `data` of a frame whose `id` is the position. One flat JSON object. More types will be
/// added: ignore unknown ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct Event {
    pub position: Position,
    /// The conversation.
    // `ConversationId::NONE` if the event is about the user and no conversation.
    #[serde(skip_serializing_if = "ConversationId::is_none")]
    pub conversation_id: ConversationId,
    /// The answer that the event is about, and its run.
    // `None` if the event is about the whole conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    #[serde(flatten)]
    pub body: EventBody,
}

/// The kind of an event, with its data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    /// A conversation was created, with its first message or as a branch of another one.
    ConversationCreated { title: String, created_at: Timestamp },
    /// A conversation was renamed.
    ConversationRenamed { title: String },
    /// Another model will answer the conversation from now on.
    ModelChosen { model: String },
    /// The conversation's model will be called with other parameters from now on.
    ParametersChosen { parameters: Parameters },
    /// The user has opened the conversation and seen its news.
    ConversationRead,
    /// A conversation was deleted with everything in it.
    ConversationDeleted,
    /// Another branch of the conversation is shown. After `conversation_created`, its messages are copies from another
    /// conversation, without events of their own: load them.
    LeafSelected { leaf_id: MessageId },
    /// A message waits in the conversation's queue, at its end, or a message in the queue has another text. It is
    /// sent when the run and the messages before it have ended; `user_message_saved` with its id then removes it
    /// from the queue.
    MessageQueued { queued: QueuedMessage },
    /// The order of the queue changed, a message was removed from it, or the queue was held or released.
    QueueChanged {
        /// The ids of the messages in the queue, in the order in which they will be sent.
        queued_ids: Vec<MessageId>,
        /// True if the messages wait until the user releases them: the last run was stopped, failed or was
        /// interrupted.
        held: bool,
    },
    /// The user has deleted a message, with all that follow it. It can be restored for some seconds; then it is erased.
    MessageHidden {
        hidden_id: MessageId,
        /// The end of the branch that is shown from now on; null if no message is left.
        leaf_id: Option<MessageId>,
    },
    /// A deleted message is shown again, with all that follow it: load what you show again. The branch ends with
    /// `leaf_id`.
    MessageRestored { leaf_id: MessageId },
    /// The user's message is stored; its answer will have the announced id.
    UserMessageSaved {
        user_message_id: MessageId,
        /// The id of the answer to come, and of its run.
        expected_assistant_message_id: MessageId,
        /// The message that this one follows; null for a conversation's first.
        parent_id: Option<MessageId>,
        text: String,
        /// The files of the message, in their order.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        files: Vec<Attachment>,
        /// The way in which the user wrote the message.
        #[serde(flatten)]
        interaction: Interaction,
        created_at: Timestamp,
    },
    /// A run began: an answer to the message `parent_id`.
    RunStarted {
        parent_id: MessageId,
        /// The model that answers, as `endpoint/model`.
        model: String,
        created_at: Timestamp,
    },
    /// A run that was stopped, failed, was interrupted or was cut short continues, in a new node.
    RunContinued { created_at: Timestamp },
    /// The run's activity, shown until there is output.
    Status { message: String },
    /// More of the model's thinking.
    Thinking {
        /// The index of the node: the model call of the answer.
        node: usize,
        /// The index of the part in its node.
        part: usize,
        /// The delta's offset in the part, in bytes of UTF-8.
        offset: usize,
        text: String,
        /// The duration of the thinking in milliseconds, with its last delta, which has no text; missing before, and if
        /// it is shorter than a tenth of a second.
        #[serde(skip_serializing_if = "is_zero")]
        took_ms: u64,
    },
    /// More of the answer. All `text_delta`s of a run joined equal the payload's `message`, except those of a node
    /// before its `text_was_thinking`. Those without an `offset` are added by Parlor in the streams of one run: the
    /// marker of a call, separators between texts, the backslash in a marker that the model wrote.
    TextDelta {
        /// The index of the node: the model call of the answer.
        node: usize,
        /// The index of the part in its node.
        part: usize,
        /// The delta's offset in the part, in bytes of UTF-8; missing in text added by Parlor.
        offset: usize,
        text: String,
    },
    /// The text of this node so far was thinking: remove it from the answer. Its parts become thinking in place. The model
    /// marked only the end of its thinking.
    TextWasThinking { node: usize },
    /// A tool call waits for the user's approval.
    ApprovalRequested(RequestedCall),
    /// The user has allowed or denied a tool call.
    ApprovalAnswered {
        index: usize,
        tool_use_id: String,
        allowed: bool,
    },
    /// A tool call began.
    ToolStart {
        #[serde(flatten)]
        call: RequestedCall,
        started_at: Timestamp,
    },
    /// A tool reported its progress.
    ToolProgress {
        index: usize,
        tool_use_id: String,
        tool: String,
        #[serde(flatten)]
        progress: ToolProgress,
    },
    /// A tool call ended, with its output for the model.
    ToolComplete {
        index: usize,
        tool_use_id: String,
        tool: String,
        /// The label of the call: "Searched", or "Searching the web" if it was denied or failed.
        label: String,
        /// `complete`, `failed` or `denied`.
        status: ToolStatus,
        /// The output as sent to the model.
        output: String,
        /// The payload that the tool made for the panel.
        #[serde(skip_serializing_if = "Option::is_none")]
        payload: Option<PayloadRef>,
        /// The files that the tool returned.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
        ended_at: Timestamp,
    },
    /// The run waits for the user. No task works on it until its questions are answered.
    Waiting {
        /// The time for which the run was active until then, in milliseconds.
        worked_ms: u64,
    },
    /// The model made a payload for the panel, at this place in its answer.
    PayloadMade {
        node: usize,
        part: usize,
        payload: PayloadRef,
    },
    /// The model made an image, which is a file of the message, at this place in its answer.
    FileMade {
        node: usize,
        part: usize,
        file: Attachment,
    },
    /// Values that the user may want to send next. They replace the earlier ones.
    SuggestedValues { values: Vec<SuggestedValue> },
    /// Actions that the user may want to take next. They replace the earlier ones.
    SuggestedActions { actions: Vec<SuggestedAction> },
    /// A suggested action was taken in the page and is no longer offered.
    ActionTaken {
        /// The index of the action in the answer.
        index: usize,
    },
    /// The user has accepted or rejected a payload.
    PayloadJudged { payload_id: String, verdict: Verdict },
    /// The sources of the answer. They replace the earlier ones.
    Sources { sources: Vec<CitedSource> },
    /// The token usage of the latest model call. It replaces the earlier one. It may come after the run's end, with the
    /// call that made the conversation's title.
    Usage(Usage),
    /// The user's saved articles or research streams changed. The event has no conversation.
    // The change is a `literature::LibraryChange`, kept as JSON and parsed only by the code that shows it.
    LiteratureChanged { change: RawJson },
    /// The run ended: the model finished.
    Complete {
        ended_at: Timestamp,
        /// The time for which the run was active, in milliseconds, since it began, was continued or had its
        /// last answer from the user.
        worked_ms: u64,
        /// The reason for which the model stopped.
        #[serde(skip_serializing_if = "Option::is_none")]
        finish_reason: Option<FinishReason>,
    },
    /// The run ended: the user stopped it.
    Cancelled {
        ended_at: Timestamp,
        /// The time for which the run was active, in milliseconds, since it began, was continued or had its
        /// last answer from the user.
        worked_ms: u64,
    },
    /// The run ended: it failed or was interrupted (`status`).
    Error {
        /// `failed` or `interrupted`.
        status: RunStatus,
        error: RunError,
        /// The message of the error.
        message: String,
        ended_at: Timestamp,
        /// The time for which the run was active, in milliseconds, since it began, was continued or had its
        /// last answer from the user.
        worked_ms: u64,
        /// The reason for which the model stopped, if it did.
        #[serde(skip_serializing_if = "Option::is_none")]
        finish_reason: Option<FinishReason>,
    },
    /// The user's settings, memories or shares changed. The event has no conversation and not the new values: load them.
    SettingsChanged,
    /// A placeholder for a deleted event, which keeps its position. It has a conversation only if the original had one.
    Empty,
    /// The stored event can't be read. Continue after it and load what you show again: that includes its effects.
    Damaged,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A notice of the stream about itself. It has no position and no `id`, and the stream ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "Fields")]
#[schemars(!try_from, rename = "Notice")]
pub enum StreamNotice {
    /// The log does not reach back to the requested position: load snapshots again.
    Reset,
    /// The log can't be read at the moment: reconnect with the same position.
    Unavailable,
    /// The log is damaged and can't be read from the requested position. Reconnecting does not help: load snapshots.
    LogDamaged,
}

impl EventBody {
    /// The status that this event gives to its run, if it is the run's last one.
    pub fn terminal_status(&self) -> Option<RunStatus> {
        match self {
            Self::Complete { .. } => Some(RunStatus::Complete),
            Self::Cancelled { .. } => Some(RunStatus::Stopped),
            Self::Error { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Returns true for more text of an answer, which only its transcript shows.
    pub fn is_streamed_text(&self) -> bool {
        matches!(self, Self::TextDelta { .. } | Self::Thinking { .. })
    }

    /// Creates the last event of a run that ends with `status`.
    ///
    /// `error` is the message of a failed or interrupted run. `worked_ms` is the time for which it was
    /// active, 0 if unknown.
    pub fn run_ended(
        status: RunStatus,
        error: Option<RunError>,
        ended_at: Timestamp,
        worked_ms: u64,
    ) -> Self {
        match (status, error) {
            (RunStatus::Stopped, _) => Self::Cancelled { ended_at, worked_ms },
            (status @ (RunStatus::Failed | RunStatus::Interrupted), error) => {
                let error = error.unwrap_or_else(|| RunError {
                    code: status.as_str().into(),
                    message: "The answer is incomplete.".into(),
                    hint: String::new(),
                });
                Self::Error {
                    status,
                    message: error.message.clone(),
                    error,
                    ended_at,
                    worked_ms,
                    finish_reason: None,
                }
            }
            _ => Self::Complete {
                ended_at,
                worked_ms,
                finish_reason: None,
            },
        }
    }

    /// Adds the reason for which the model stopped.
    pub fn with_finish_reason(mut self, reason: Option<FinishReason>) -> Self {
        if let Self::Complete { finish_reason, .. } | Self::Error { finish_reason, .. } = &mut self {
            *finish_reason = reason;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_serializes_as_flat_contract_object() {
        let conversation_id = ConversationId::new();
        let message_id = MessageId::new();
        let event = Event {
            position: Position(7),
            conversation_id,
            message_id: Some(message_id),
            body: EventBody::TextDelta {
                node: 0,
                part: 1,
                offset: 5,
                text: "hi".into(),
            },
        };
        let json = serde_json::to_value(&event).unwrap();
        assert_eq!(
            json,
            serde_json::json!({
                "position": 7, "conversation_id": conversation_id, "message_id": message_id,
                "type": "text_delta", "node": 0, "part": 1, "offset": 5, "text": "hi",
            })
        );
        assert_eq!(serde_json::from_value::<Event>(json).unwrap(), event);
    }
}
