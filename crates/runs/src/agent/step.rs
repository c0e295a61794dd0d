//! The agent's inputs and effects.

use std::time::Duration;

use super::ToolOutcome;
use parlor_model::{ModelError, ModelEvent, ToolInput};
use parlor_protocol::{
    Attachment, CitedSource, Payload, ProviderData, RunEvent, SuggestedAction, ToolProgress, Usage,
};

/// An event that the driver reports to the agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The run starts or continues.
    Start,
    /// The model sent an event.
    Model(ModelEvent),
    /// The usage of the current model call is known.
    UsageKnown(Usage),
    /// An image of the current answer was stored as a file of the message.
    ImageStored(Attachment),
    /// The call failed, before or during the stream.
    CallFailed(ModelError),
    /// The stream ended without a finish reason.
    StreamEnded,
    /// The scheduled retry is due.
    RetryDue,
    /// A tool reports progress.
    ToolProgress { index: usize, progress: ToolProgress },
    /// A tool call has ended.
    ToolEnded { index: usize, done: ToolOutcome },
    /// A user has allowed or denied a tool call.
    ApprovalAnswered { index: usize, allowed: bool },
    /// A time limit has passed.
    TimedOut(Timeout),
    /// The answer has exceeded this many bytes.
    TooLong(usize),
    /// A part of the answer was checked.
    Checked(Unchecked),
    /// A message of the user waits, and the model gets it before its next call.
    HandOver,
    /// Something besides the model and the tools is being done, in words for the user.
    Activity(String),
    /// The session that tools need could not be restored, for this reason.
    RestoreFailed(String),
    /// A user stops the run.
    Stop,
    /// The server is shutting down.
    Shutdown,
}

/// A part of an answer that only others than the agent can check.
#[derive(Clone, Debug, PartialEq)]
pub enum Unchecked {
    /// Suggested actions, some of which open something.
    Actions(Vec<SuggestedAction>),
    /// Sources, of which some have quotes, or may be texts that Parlor has.
    Sources(Vec<CitedSource>),
}

/// A part of the model's output that the user is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The part and the reason, in words.
    pub what: String,
    /// The part as JSON.
    pub raw: String,
}

impl LeftOut {
    /// A suggested action that has no button.
    pub fn action(action: &SuggestedAction, reason: &str) -> Self {
        Self {
            what: format!("the action “{}”: {reason}", action.action),
            raw: serde_json::to_string(action).unwrap_or_default(),
        }
    }
}

/// A time limit that has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeout {
    /// The model sent nothing.
    FirstToken(Duration),
    /// The model stopped sending.
    Silence(Duration),
    /// The whole run took too long.
    Run(Duration),
}

/// An action for the driver.
#[derive(Debug, PartialEq)]
pub enum Effect {
    /// Call the model with the current state of the run, with or without tools.
    CallModel { with_tools: bool },
    /// Wait at least this long, then send [`Input::RetryDue`].
    ScheduleRetry(Duration),
    /// Append this event to the run's log.
    Log(RunEvent),
    /// Check a part of the answer, then send [`Input::Checked`] with what may be shown of it.
    Check(Unchecked),
    /// Name this in the diagnostics.
    LeaveOut(LeftOut),
    /// Store a payload. The next log entry refers to it.
    StorePayload(Payload),
    /// Store provider data of a part or, without one, of a whole node. The part may be created by the
    /// next log entry.
    StoreProviderData {
        node: usize,
        part: Option<usize>,
        data: ProviderData,
    },
    /// Run a tool, then send [`Input::ToolEnded`]. The log entry of its start must be committed before the
    /// tool begins.
    RunTool {
        index: usize,
        tool: String,
        input: ToolInput,
    },
    /// Commit this event and the current message: the run waits for approvals. It continues from the stored
    /// state after the user's answer.
    Pause(RunEvent),
    /// Commit this final event and the current message. No effect follows it.
    End(RunEvent),
}
