//! The agent: what a run does next, as a pure state machine.
//!
//! (state, input) → (state, effects). It performs nothing, waits for nothing and reads no clock: the driver in
//! `runs` performs the effects and feeds it what came of them.

use std::time::Duration;

use crate::{
    protocol::{AssistantMessage, EventBody, Part, RunError, RunStatus, Timestamp, transcript::apply_to_run},
    providers::{FinishReason, ModelError, ModelErrorKind, ModelEvent},
};

pub mod control;

#[cfg(test)]
mod tests;

/// How often a call that the model server could not take is made again.
pub const MAX_RETRIES: u32 = 2;

/// The longest that a model server may make us wait with its Retry-After.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// What to do when an answer broke off.
pub const KEPT: &str = "What had come is kept. Continue goes on from there, Retry begins anew.";

/// What a run has come to.
#[derive(Clone, Debug)]
pub struct Agent {
    message: AssistantMessage,
    /// The node that the present call of the model fills.
    node: usize,
    phase: Phase,
    retries: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The model has been called and has said nothing yet.
    Calling,
    /// The model has begun to answer.
    Streaming,
    /// The call failed and will be made again.
    Waiting,
    Ended,
}

/// What has happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The run begins.
    Start,
    /// The model said something.
    Model(ModelEvent),
    /// The call gave an error, before or in the middle of the stream.
    Failed(ModelError),
    /// The stream ended before the model said why.
    BrokeOff,
    /// The wait that was asked for is over.
    Waited,
    /// A time limit has passed.
    TimedOut(Timeout),
    /// The answer has come to more than this many bytes.
    TooLong(usize),
    /// A person wants it to stop.
    Stop,
    /// The server is going down.
    ShutDown,
}

/// Which time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeout {
    /// The model said nothing at all.
    FirstToken(Duration),
    /// The model fell silent.
    Silence(Duration),
    /// The whole run took too long.
    Run(Duration),
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Call the model.
    Call,
    /// Wait at least this long, then say [`Input::Waited`].
    Wait(Duration),
    /// Add this to the run's log.
    Log(EventBody),
    /// Commit the end of the run: this event, and the message as it is now. Nothing comes after it.
    End(EventBody),
}

impl Agent {
    /// A run that has produced this much so far: nothing, or what it had when it is continued.
    pub fn new(message: AssistantMessage) -> Self {
        Self {
            node: message.nodes.len(),
            message,
            phase: Phase::Calling,
            retries: 0,
        }
    }

    /// What the run has produced.
    pub fn message(&self) -> &AssistantMessage {
        &self.message
    }

    /// Whether the model has begun to answer the present call.
    pub fn is_streaming(&self) -> bool {
        self.phase == Phase::Streaming
    }

    /// Takes what has happened at `at`; says what is to be done.
    pub fn step(&mut self, input: Input, at: Timestamp) -> Vec<Effect> {
        if self.phase == Phase::Ended {
            return Vec::new();
        }
        match input {
            Input::Start => vec![
                self.log(EventBody::Status {
                    message: "Thinking...".into(),
                }),
                Effect::Call,
            ],
            Input::Waited => {
                self.phase = Phase::Calling;
                vec![Effect::Call]
            }
            Input::Model(event) => self.model_said(event, at),
            Input::Failed(error) => self.failed(error, at),
            Input::BrokeOff => self.end(RunStatus::Interrupted, Some(broke_off()), at),
            Input::TimedOut(timeout) => {
                let status = match timeout {
                    Timeout::FirstToken(_) => RunStatus::Failed,
                    Timeout::Silence(_) | Timeout::Run(_) => RunStatus::Interrupted,
                };
                self.end(status, Some(timed_out(timeout)), at)
            }
            Input::TooLong(limit) => self.end(RunStatus::Failed, Some(too_much(limit)), at),
            Input::Stop => self.end(RunStatus::Stopped, None, at),
            Input::ShutDown => self.end(RunStatus::Interrupted, Some(shut_down()), at),
        }
    }

    fn model_said(&mut self, event: ModelEvent, at: Timestamp) -> Vec<Effect> {
        self.phase = Phase::Streaming;
        match event {
            ModelEvent::Thinking(text) | ModelEvent::Text(text) if text.is_empty() => Vec::new(),
            ModelEvent::Thinking(text) => {
                let (part, offset) = self.place(|part| matches!(part, Part::Thinking { .. }));
                vec![self.log(EventBody::Thinking {
                    node: self.node,
                    part,
                    offset,
                    text,
                })]
            }
            ModelEvent::Text(text) => {
                let (part, offset) = self.place(|part| matches!(part, Part::Text { .. }));
                vec![self.log(EventBody::TextDelta {
                    node: self.node,
                    part,
                    offset,
                    text,
                })]
            }
            // No tools are offered, so there is nothing to call; what they cost is not shown yet.
            ModelEvent::ToolCall { .. } | ModelEvent::ToolArguments { .. } | ModelEvent::Usage(_) => {
                Vec::new()
            }
            ModelEvent::Finished(FinishReason::ContentFilter) => {
                self.end(RunStatus::Failed, Some(held_back()), at)
            }
            ModelEvent::Finished(_) if self.message.is_empty() => {
                self.end(RunStatus::Failed, Some(empty_answer()), at)
            }
            ModelEvent::Finished(_) => self.end(RunStatus::Complete, None, at),
        }
    }

    fn failed(&mut self, error: ModelError, at: Timestamp) -> Vec<Effect> {
        match error.kind {
            ModelErrorKind::Unavailable { after }
                if self.phase == Phase::Calling
                    && self.retries < MAX_RETRIES
                    && after.unwrap_or_default() <= LONGEST_WAIT =>
            {
                self.retries += 1;
                self.phase = Phase::Waiting;
                let wait = after.unwrap_or(Duration::from_millis(500) * 2_u32.pow(self.retries));
                let message = format!("{} Trying again...", error.error.message);
                vec![self.log(EventBody::Status { message }), Effect::Wait(wait)]
            }
            ModelErrorKind::Broken => self.end(RunStatus::Interrupted, Some(error.error), at),
            ModelErrorKind::Refused | ModelErrorKind::Unavailable { .. } => {
                self.end(RunStatus::Failed, Some(error.error), at)
            }
        }
    }

    /// Where the next delta goes: on in the last part if it is of the right kind, else into a new one.
    fn place(&self, same_kind: impl Fn(&Part) -> bool) -> (usize, usize) {
        let parts = self
            .message
            .nodes
            .get(self.node)
            .map_or(&[][..], |node| &node.parts);
        match parts.last() {
            Some(last) if same_kind(last) => (parts.len() - 1, last.text().len()),
            _ => (parts.len(), 0),
        }
    }

    fn log(&mut self, event: EventBody) -> Effect {
        let applied = apply_to_run(&mut self.message, &event);
        debug_assert!(
            applied.is_some(),
            "the agent made an event that does not follow: {event:?}"
        );
        Effect::Log(event)
    }

    fn end(&mut self, status: RunStatus, error: Option<RunError>, at: Timestamp) -> Vec<Effect> {
        self.phase = Phase::Ended;
        let event = EventBody::ended(status, error, at);
        apply_to_run(&mut self.message, &event);
        vec![Effect::End(event)]
    }
}

fn error(code: &str, message: String, hint: &str) -> RunError {
    RunError {
        code: code.into(),
        message,
        hint: hint.into(),
    }
}

fn broke_off() -> RunError {
    let message = "The model server ended its answer without saying that it was finished.".into();
    error("broke_off", message, KEPT)
}

fn shut_down() -> RunError {
    let message = "Parlor was stopped before the answer was finished.".into();
    error("shut_down", message, KEPT)
}

fn empty_answer() -> RunError {
    error(
        "empty_answer",
        "The model finished without saying anything.".into(),
        "Retry, or choose another model.",
    )
}

fn held_back() -> RunError {
    let message = "The model server held the rest of the answer back (content filter).".into();
    error(
        "content_filter",
        message,
        "What had come is kept. Put the question in other words, or choose another model.",
    )
}

fn too_much(limit: usize) -> RunError {
    error(
        "answer_too_long",
        format!("The answer came to more than {limit} bytes, and the model went on."),
        "What had come is kept. The limit is the setting limits.answer_bytes.",
    )
}

fn timed_out(timeout: Timeout) -> RunError {
    let seconds = |limit: Duration| limit.as_secs_f64();
    match timeout {
        Timeout::FirstToken(limit) => error(
            "no_answer",
            format!("The model server said nothing for {} seconds.", seconds(limit)),
            "It may be loading the model: retry. The limit is the setting timeouts.first_token_seconds.",
        ),
        Timeout::Silence(limit) => error(
            "fell_silent",
            format!(
                "The model server fell silent for {} seconds in the middle of its answer.",
                seconds(limit)
            ),
            "What had come is kept; Continue goes on from there. The limit is the setting timeouts.silence_seconds.",
        ),
        Timeout::Run(limit) => error(
            "too_long",
            format!("The answer took longer than {} seconds.", seconds(limit)),
            "What had come is kept; Continue goes on from there. The limit is the setting timeouts.run_seconds.",
        ),
    }
}
