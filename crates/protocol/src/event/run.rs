//! The events of runs.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    Attachment, CitedSource, FinishReason, MessageId, PayloadRef, RequestedCall, RunError, RunStatus,
    SuggestedAction, SuggestedValue, Timestamp, ToolProgress, ToolStatus, Usage,
};

/// An event about a run or its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RunEvent {
    /// A run began: an answer to the message `parent_id`.
    RunStarted {
        parent_id: MessageId,
        /// The model that answers, as `endpoint/model`.
        model: String,
        created_at: Timestamp,
    },
    /// A run that was stopped, failed, was interrupted or was cut short continues, in a new node.
    RunContinued { created_at: Timestamp },
    /// A run that a crash or restart of the server interrupted goes on by itself, in a new node.
    RunResumed { resumed_at: Timestamp },
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
    /// The sources of the answer. They replace the earlier ones.
    Sources { sources: Vec<CitedSource> },
    /// The token usage of the latest model call. It replaces the earlier one. It may come after the run's end, with the
    /// call that made the conversation's title.
    Usage(Usage),
    /// The run ended: the model finished.
    Complete {
        ended_at: Timestamp,
        /// The time for which the run was active, in milliseconds, since it began, was continued or had its
        /// last answer from the user.
        worked_ms: u64,
        /// The reason for which the model stopped.
        #[serde(skip_serializing_if = "Option::is_none")]
        finish_reason: Option<FinishReason>,
        /// True if a scheduled run found nothing new and its user asked not to be told. Nothing is marked as unread.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        #[schemars(default)]
        is_quiet: bool,
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
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl RunEvent {
    /// The status that this event gives to its run, if it is the run's last one.
    pub fn terminal_status(&self) -> Option<RunStatus> {
        match self {
            Self::Complete { .. } => Some(RunStatus::Complete),
            Self::Cancelled { .. } => Some(RunStatus::Stopped),
            Self::Error { status, .. } => Some(*status),
            Self::RunStarted { .. }
            | Self::RunContinued { .. }
            | Self::RunResumed { .. }
            | Self::Status { .. }
            | Self::Thinking { .. }
            | Self::TextDelta { .. }
            | Self::TextWasThinking { .. }
            | Self::ApprovalRequested(_)
            | Self::ApprovalAnswered { .. }
            | Self::ToolStart { .. }
            | Self::ToolProgress { .. }
            | Self::ToolComplete { .. }
            | Self::Waiting { .. }
            | Self::PayloadMade { .. }
            | Self::FileMade { .. }
            | Self::SuggestedValues { .. }
            | Self::SuggestedActions { .. }
            | Self::ActionTaken { .. }
            | Self::Sources { .. }
            | Self::Usage(_) => None,
        }
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
                is_quiet: false,
            },
        }
    }

    /// Marks the end of a complete run as one that its user is not told of.
    pub fn quiet_if(mut self, quiet: bool) -> Self {
        if let Self::Complete { is_quiet, .. } = &mut self {
            *is_quiet = quiet;
        }
        self
    }

    /// Returns true if the event ends a run, and its user should be told that it has.
    pub fn is_notifiable_end(&self) -> bool {
        let is_quiet = matches!(self, Self::Complete { is_quiet: true, .. });
        !is_quiet && self.terminal_status().is_some_and(RunStatus::is_notifiable)
    }

    /// Adds the reason for which the model stopped.
    pub fn with_finish_reason(mut self, reason: Option<FinishReason>) -> Self {
        if let Self::Complete { finish_reason, .. } | Self::Error { finish_reason, .. } = &mut self {
            *finish_reason = reason;
        }
        self
    }
}
