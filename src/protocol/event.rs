//! Events: every change to what a person sees, in one ordered log per user.

use serde::{Deserialize, Serialize};

use super::{
    Attachment, CitedSource, ConversationId, FinishReason, Interaction, MessageId, Parameters, PayloadRef,
    RawJson, RequestedCall, RunError, RunStatus, SuggestedAction, SuggestedValue, Timestamp, ToolProgress,
    ToolStatus, Usage, Verdict, flat_json::Fields,
};

/// A place in a user's log: 1, 2, 3 … without gaps. 0 is before the first event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(pub u64);

impl Position {
    /// The position that follows this one.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// One entry of a user's log. On the wire it is one flat JSON object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct Event {
    pub position: Position,
    /// [`ConversationId::NONE`] for what concerns the person and no conversation.
    #[serde(skip_serializing_if = "ConversationId::is_none")]
    pub conversation_id: ConversationId,
    /// The run that the event belongs to; `None` for what concerns the conversation as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    #[serde(flatten)]
    pub body: EventBody,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    /// A conversation came to be, with its first message.
    ConversationCreated { title: String, created_at: Timestamp },
    /// A conversation has another title.
    ConversationRenamed { title: String },
    /// A conversation will be answered by another model from now on.
    ModelChosen { model: String },
    /// A conversation's model will be asked in another way from now on.
    ParametersChosen { parameters: Parameters },
    /// Somebody has looked at what had happened in a conversation.
    ConversationRead,
    /// A conversation and all that was in it is gone.
    ConversationDeleted,
    /// Another branch of the conversation is the one that is shown.
    LeafSelected { leaf_id: MessageId },
    /// A person's message is stored; its answer will have the announced id.
    UserMessageSaved {
        user_message_id: MessageId,
        expected_assistant_message_id: MessageId,
        parent_id: Option<MessageId>,
        text: String,
        /// How the person said it.
        #[serde(flatten)]
        interaction: Interaction,
        created_at: Timestamp,
    },
    /// A run began: an answer to the message `parent_id`.
    RunStarted {
        parent_id: MessageId,
        model: String,
        created_at: Timestamp,
    },
    /// A run that had not come to its natural end goes on, in a new node.
    RunContinued { created_at: Timestamp },
    /// What the run is doing, while there is nothing else to show.
    Status { message: String },
    /// More of the model's reasoning.
    Thinking {
        node: usize,
        part: usize,
        /// Where the delta begins in the part, in bytes of UTF-8.
        offset: usize,
        text: String,
    },
    /// More of the answer.
    TextDelta {
        node: usize,
        part: usize,
        /// Where the delta begins in the part, in bytes of UTF-8.
        offset: usize,
        text: String,
    },
    /// The text of this node so far was reasoning: its end was marked, and not its beginning.
    TextWasThinking { node: usize },
    /// A tool call that has to be allowed by a person before it begins.
    ApprovalRequested(RequestedCall),
    /// A person has answered whether a tool call may begin.
    ApprovalAnswered {
        index: usize,
        tool_use_id: String,
        allowed: bool,
    },
    /// A tool call begins.
    ToolStart {
        #[serde(flatten)]
        call: RequestedCall,
        started_at: Timestamp,
    },
    /// A tool says how far it is.
    ToolProgress {
        index: usize,
        tool_use_id: String,
        tool: String,
        #[serde(flatten)]
        progress: ToolProgress,
    },
    /// A tool call has ended, with what the model is told of it.
    ToolComplete {
        index: usize,
        tool_use_id: String,
        tool: String,
        /// What the tool has done: "Searched".
        label: String,
        status: ToolStatus,
        output: String,
        /// What it has made for the panel.
        #[serde(skip_serializing_if = "Option::is_none")]
        payload: Option<PayloadRef>,
        /// The files that it has given.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
        ended_at: Timestamp,
    },
    /// The run waits for a person: no task works on it until its questions are answered.
    Waiting {
        /// How long it was at work until then, in milliseconds.
        worked_ms: u64,
    },
    /// The model has made something for the panel, at this place of its answer.
    PayloadMade {
        node: usize,
        part: usize,
        payload: PayloadRef,
    },
    /// What the person may want to say next. It replaces what was suggested before.
    SuggestedValues { values: Vec<SuggestedValue> },
    /// What the person may want done next. It replaces what was suggested before.
    SuggestedActions { actions: Vec<SuggestedAction> },
    /// A suggested action was taken on the page: it is not offered any more.
    ActionTaken {
        /// Which of the answer's actions.
        index: usize,
    },
    /// A person has accepted or rejected something that was made for the panel.
    PayloadJudged { payload_id: String, verdict: Verdict },
    /// Where the answer has it from. It replaces what was said before.
    Sources { sources: Vec<CitedSource> },
    /// What the latest call of the model came to. It replaces what was said before.
    Usage(Usage),
    /// The person's literature is another one: how, as `literature::Change`. It is read by those who show it.
    LiteratureChanged { change: RawJson },
    /// The run ended: the model finished.
    Complete {
        ended_at: Timestamp,
        /// How long it was at work since it began, was continued or had its last answer from a person, in milliseconds.
        worked_ms: u64,
        /// Why the model stopped.
        #[serde(skip_serializing_if = "Option::is_none")]
        finish_reason: Option<FinishReason>,
    },
    /// The run ended: a person stopped it.
    Cancelled { ended_at: Timestamp, worked_ms: u64 },
    /// The run ended: it failed or was interrupted (`status`).
    Error {
        status: RunStatus,
        error: RunError,
        message: String,
        ended_at: Timestamp,
        worked_ms: u64,
        /// Why the model stopped, if it did.
        #[serde(skip_serializing_if = "Option::is_none")]
        finish_reason: Option<FinishReason>,
    },
    /// Something of what a person has set for themselves is another one, or of what is remembered of them. What it is is not in
    /// the log: who shows it loads it.
    SettingsChanged,
    /// What stood here was deleted; only its position is kept.
    Empty,
    /// The stored event can't be read. It is skipped: snapshots have what came of it, as far as anything has.
    Damaged,
}

/// What a stream says about itself. It has no position, and the stream ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "Fields")]
pub enum StreamNotice {
    /// The log does not reach back to the position that was asked for: load snapshots again.
    Reset,
    /// The log can't be read just now: come back with the same position.
    Unavailable,
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

    /// The last event of a run that ends with `status`.
    ///
    /// `error` is what a failed or interrupted run tells the person. `worked_ms` is 0 if it
    /// is not known how long it was at work.
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
                    message: "The answer broke off.".into(),
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

    /// The same end, with why the model stopped.
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
