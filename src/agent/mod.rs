//! The agent: the next step of a run, as a pure state machine.
//!
//! (state, input) → (state, effects). It performs nothing, waits for nothing and reads no clock: the driver in
//! `runs` performs the effects and feeds it what came of them.

use std::{sync::Arc, time::Duration};

use self::{
    ends::{answer_repeats, broke_off, shut_down, timed_out},
    repeats::Repeats,
};
use crate::{
    control::{self, ControlFilter},
    model::{Done, ModelError, ModelErrorKind, ModelEvent, Toolbox},
    protocol::{
        AssistantMessage, EventBody, FinishReason, Part, RunError, RunStatus, Timestamp,
        transcript::apply_to_run,
    },
};

mod calls;

mod ends;
mod finish;
mod found;
mod repeats;
mod said;
mod step;
mod workshop;

pub use calls::Asked;
pub(crate) use ends::{damaged, error};
pub use step::{Effect, Input, Timeout};
pub use workshop::Workshop;

#[cfg(test)]
mod calls_tests;
#[cfg(test)]
mod said_tests;
#[cfg(test)]
mod tests;

/// The most often that a call which the model server could not take is made again.
pub const MAX_RETRIES: u32 = 2;

/// The longest that a model server may make us wait with its Retry-After.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The hint where an answer broke off.
pub const KEPT: &str = "What had come is kept. Continue goes on from there, Retry begins anew.";

/// Limits of the agent loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// So many calls of the model may ask for tools; then it has to answer with what there is.
    pub max_iterations: usize,
    /// The model may be shown metadata before messages of the history: then it may imitate them.
    pub has_metadata: bool,
    /// The answer is ended when the same passage stands in it so many times in a row. 0 means never.
    pub repetitions: usize,
}

/// The state of a run.
#[derive(Clone, Debug)]
pub struct Agent {
    message: AssistantMessage,
    /// The node that the present call of the model fills.
    node: usize,
    phase: Phase,
    /// The time at which it was set to work.
    began_at: Timestamp,
    retries: u32,
    tools: Arc<dyn Toolbox>,
    workshop: Arc<dyn Workshop>,
    terms: Terms,
    /// The tool calls that the model is asking for in the present answer.
    asked: Vec<Asked>,
    /// Takes out of the present answer what is not for the person.
    filter: ControlFilter,
    /// Notice that the present answer goes round in circles: what the model says, and what it thinks.
    said: Repeats,
    thought: Repeats,
    /// The person has been told that something is being written for the panel.
    is_writing: bool,
    /// The reason for which the present call of the model stopped, once it says.
    reason: Option<FinishReason>,
    /// Names of what could not be read of the present answer.
    unread: Vec<String>,
    /// The text ends with a note about something that can't be shown.
    has_note: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The model has been called and has said nothing yet.
    Calling,
    /// The model has begun to answer.
    Streaming,
    /// The call failed and will be made again.
    Retrying,
    /// Tools are at work.
    Working,
    Ended,
}

impl Agent {
    /// A run that has produced this much so far: nothing, or what it had when it is continued.
    pub fn new(
        message: AssistantMessage,
        tools: Arc<dyn Toolbox>,
        workshop: Arc<dyn Workshop>,
        terms: Terms,
    ) -> Self {
        Self {
            node: message.nodes.len(),
            message,
            phase: Phase::Calling,
            began_at: Timestamp(0),
            retries: 0,
            tools,
            workshop,
            terms,
            asked: Vec::new(),
            filter: ControlFilter::new(Vec::new(), control::DEFAULT_LIMIT),
            said: Repeats::new(0),
            thought: Repeats::new(0),
            is_writing: false,
            reason: None,
            unread: Vec::new(),
            has_note: false,
        }
    }

    /// Returns what the run has produced.
    pub fn message(&self) -> &AssistantMessage {
        &self.message
    }

    /// Returns whether the model has begun to answer the present call.
    pub fn is_streaming(&self) -> bool {
        self.phase == Phase::Streaming
    }

    /// Returns whether it is the model's turn.
    fn is_with_model(&self) -> bool {
        matches!(self.phase, Phase::Calling | Phase::Streaming)
    }

    /// Takes what has happened at `at`; says what is to be done.
    pub fn step(&mut self, input: Input, at: Timestamp) -> Vec<Effect> {
        if self.phase == Phase::Ended {
            return Vec::new();
        }
        match input {
            Input::Start => {
                self.began_at = at;
                self.take_up(at)
            }
            Input::Waited if self.phase == Phase::Retrying => {
                self.phase = Phase::Calling;
                vec![self.call()]
            }
            // The model has said what it had to say, or has not been asked yet: this is late.
            Input::Waited => Vec::new(),
            Input::Model(_) | Input::Used(_) | Input::Failed(_) | Input::BrokeOff
                if !self.is_with_model() =>
            {
                Vec::new()
            }
            Input::Used(usage) => vec![self.log(EventBody::Usage(usage))],
            Input::Model(event) => self.model_said(event, at),
            Input::ToolProgress { index, progress } => self.tool_progress(index, progress),
            Input::ToolEnded { index, done } => self.tool_ended(index, done, at),
            Input::Answered { index, allowed } => self.answered(index, allowed, at),
            Input::Failed(error) => self.failed(error, at),
            Input::BrokeOff => self.break_off(RunStatus::Interrupted, broke_off(), at),
            Input::TimedOut(timeout) => {
                let status = match timeout {
                    Timeout::FirstToken(_) => RunStatus::Failed,
                    Timeout::Silence(_) | Timeout::Run(_) => RunStatus::Interrupted,
                };
                self.break_off(status, timed_out(timeout), at)
            }
            Input::TooLong(limit) => self.reach_limit(limit, at),
            Input::Stop => self.end(RunStatus::Stopped, None, at),
            Input::ShutDown => self.break_off(RunStatus::Interrupted, shut_down(), at),
        }
    }

    fn model_said(&mut self, event: ModelEvent, at: Timestamp) -> Vec<Effect> {
        self.phase = Phase::Streaming;
        match event {
            ModelEvent::Thinking(text) | ModelEvent::Text(text) if text.is_empty() => Vec::new(),
            ModelEvent::Thinking(text) => {
                let (part, offset) = self.place(|part| matches!(part, Part::Thinking { .. }));
                let is_looping = self.thought.push(&text, false);
                let thinking = self.log(EventBody::Thinking {
                    node: self.node,
                    part,
                    offset,
                    text,
                });
                let mut effects = vec![thinking];
                if is_looping {
                    effects.extend(self.end_loop(at));
                }
                effects
            }
            ModelEvent::Text(text) => {
                let text = self.after_note(text);
                let mut items = Vec::new();
                self.filter.push(&text, &mut items);
                let mut effects = self.take_in(items);
                effects.extend(self.says_what_is_written());
                if self.said.push(&text, self.filter.writing().is_some()) {
                    effects.extend(self.end_loop(at));
                }
                effects
            }
            ModelEvent::ToolCall { index, id, name } => self.begins_to_ask(index, id, name),
            ModelEvent::ToolArguments { index, delta } => {
                if let Some(asked) = self.asked.iter_mut().find(|asked| asked.place == index) {
                    asked.arguments.push_str(&delta);
                }
                Vec::new()
            }
            // What that means is said as `Input::Used`.
            ModelEvent::Usage(_) => Vec::new(),
            ModelEvent::TextWasThinking => self.takes_text_for_thinking(),
            ModelEvent::Sources(sources) => self.is_given(sources),
            ModelEvent::Opaque { beside, data } => self.keeps(beside, data),
            ModelEvent::Unread { what, .. } => self.cannot_show(&what),
            ModelEvent::Finished(reason) => {
                let mut items = Vec::new();
                self.filter.finish(&mut items);
                let mut effects = self.take_in(items);
                effects.extend(self.finished(reason, at));
                effects
            }
        }
    }

    /// The model says the same again and again. What it has said is kept.
    fn end_loop(&mut self, at: Timestamp) -> Vec<Effect> {
        let error = answer_repeats(self.terms.repetitions);
        self.break_off(RunStatus::Failed, error, at)
    }

    /// Calls the model, to fill the next node.
    fn think(&mut self) -> Vec<Effect> {
        self.node = self.message.nodes.len();
        self.filter = said::filter_for(&self.message, self.workshop.markers(), self.terms.has_metadata);
        self.said = Repeats::new(self.terms.repetitions);
        self.thought = Repeats::new(self.terms.repetitions);
        self.is_writing = false;
        self.has_note = false;
        self.unread.clear();
        self.phase = Phase::Calling;
        self.retries = 0;
        let status = EventBody::Status {
            message: "Thinking...".into(),
        };
        vec![self.log(status), self.call()]
    }

    fn call(&mut self) -> Effect {
        // What a call that failed had asked for is forgotten.
        self.asked.clear();
        self.reason = None;
        Effect::Call {
            with_tools: self.may_use_tools(),
        }
    }

    /// Returns whether the present call of the model may ask for tools.
    fn may_use_tools(&self) -> bool {
        self.node < self.terms.max_iterations
    }

    fn failed(&mut self, error: ModelError, at: Timestamp) -> Vec<Effect> {
        match error.kind {
            ModelErrorKind::Unavailable { after }
                if self.phase == Phase::Calling
                    && self.retries < MAX_RETRIES
                    && after.unwrap_or_default() <= LONGEST_WAIT =>
            {
                self.retries += 1;
                self.phase = Phase::Retrying;
                let wait = after.unwrap_or(Duration::from_millis(500) * 2_u32.pow(self.retries));
                let message = format!("{} Trying again...", error.error.message);
                vec![self.log(EventBody::Status { message }), Effect::Wait(wait)]
            }
            ModelErrorKind::Broken => self.break_off(RunStatus::Interrupted, error.error, at),
            ModelErrorKind::Refused | ModelErrorKind::Unavailable { .. } => {
                self.break_off(RunStatus::Failed, error.error, at)
            }
        }
    }

    /// Finds the place of the next delta: on in the last part if it is of the right kind, else into a new one.
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

    /// The run ends without a natural end of the model's answer.
    fn break_off(&mut self, status: RunStatus, error: RunError, at: Timestamp) -> Vec<Effect> {
        let mut items = Vec::new();
        self.filter.break_off(&mut items);
        let mut effects = self.take_in(items);
        effects.extend(self.end(status, Some(error), at));
        effects
    }

    /// Returns the time for which it has been at work.
    fn worked_ms(&self, now: Timestamp) -> u64 {
        // A clock may be set back.
        now.0
            .saturating_sub(self.began_at.0)
            .try_into()
            .unwrap_or_default()
    }

    fn end(&mut self, status: RunStatus, error: Option<RunError>, at: Timestamp) -> Vec<Effect> {
        self.phase = Phase::Ended;
        let event = EventBody::ended(status, error, at, self.worked_ms(at)).because(self.reason.take());
        apply_to_run(&mut self.message, &event);
        vec![Effect::End(event)]
    }
}
