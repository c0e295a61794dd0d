//! The agent's inputs and effects: what a step takes, and what comes of it.

use std::time::Duration;

use super::ToolOutcome;
use crate::{
    model::{ModelError, ModelEvent},
    protocol::{EventBody, Opaque, Payload, ToolProgress, Usage},
};

/// An event that the agent is told of.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The run begins.
    Start,
    /// The model said something.
    Model(ModelEvent),
    /// It is known what the present call of the model came to.
    UsageKnown(Usage),
    /// The call gave an error, before or in the middle of the stream.
    CallFailed(ModelError),
    /// The stream ended before the model said why.
    StreamEnded,
    /// The wait that was asked for is over.
    RetryDue,
    /// A tool says how far it is.
    ToolProgress { index: usize, progress: ToolProgress },
    /// A tool call has ended.
    ToolEnded { index: usize, done: ToolOutcome },
    /// A person has answered whether a tool call may begin.
    ApprovalAnswered { index: usize, allowed: bool },
    /// A time limit has passed.
    TimedOut(Timeout),
    /// The answer has come to more than this many bytes.
    TooLong(usize),
    /// A person wants it to stop.
    Stop,
    /// The server is going down.
    Shutdown,
}

/// A time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeout {
    /// The model said nothing at all.
    FirstToken(Duration),
    /// The model fell silent.
    Silence(Duration),
    /// The whole run took too long.
    Run(Duration),
}

/// Something that the driver is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Call the model, with what the run has come to. It may ask for tools or not.
    CallModel { with_tools: bool },
    /// Wait at least this long, then say [`Input::Waited`].
    ScheduleRetry(Duration),
    /// Add this to the run's log.
    Log(EventBody),
    /// Keep what the model has made for the panel. What is logged next names it.
    StorePayload(Payload),
    /// Keep what only the provider understands, beside a part of the answer or, without one, beside a whole node. What is logged next
    /// may be that part.
    StoreOpaque {
        node: usize,
        part: Option<usize>,
        data: Opaque,
    },
    /// Run a tool, then say [`Input::ToolEnded`]. Its start is logged, which must be committed before it begins.
    RunTool {
        index: usize,
        tool: String,
        input: String,
    },
    /// Commit that the run waits for a person: this event, and the message as it is now. The run goes on from what is stored
    /// when the person has answered.
    Pause(EventBody),
    /// Commit the end of the run: this event, and the message as it is now. Nothing comes after it.
    End(EventBody),
}
