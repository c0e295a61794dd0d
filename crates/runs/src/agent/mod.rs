//! The agent: a pure state machine that computes the next step of a run.
//!
//! (state, input) → (state, effects). It does no I/O, never waits and reads no clock: the driver in `runs`
//! performs the effects and feeds the results back as inputs.

use std::sync::Arc;

use self::{
    correction::Correction,
    errors::{repeating_answer, session_not_restored, shut_down, timeout_error},
};
use crate::retry::retry_wait;
use parlor_model::{
    ModelError, ModelErrorKind, ModelEvent, ToolOutcome, Toolbox,
    control::{self, ControlFilter},
};
use parlor_protocol::{
    AssistantMessage, FinishReason, Part, RunEvent, RunStatus, Timestamp, WAITING_FOR_MODEL,
    transcript::apply_to_run,
};

mod calls;
mod content;
mod correction;
mod errors;
mod finish;
mod limits;
mod payload_factory;
mod repetition;
mod step;
mod text;
mod thinking;

pub use calls::IncomingCall;
pub(crate) use errors::{database_damaged, run_error, stream_broke_off};
pub use limits::AgentLimits;
pub use payload_factory::PayloadFactory;
pub use repetition::RepetitionDetector;
pub use step::{Effect, Input, LeftOut, Timeout, Unchecked};
pub use text::opens_something;

#[cfg(test)]
mod tests;

/// The hint of an answer that broke off. Hints name no button: the page says what those do that it shows.
pub const KEPT_HINT: &str = "The answer so far is kept.";

/// The state of a run.
#[derive(Clone, Debug)]
pub struct Agent {
    message: AssistantMessage,
    /// The index of the node that the current model call fills.
    node: usize,
    phase: Phase,
    /// The start time of the run, or of its continuation.
    started_at: Timestamp,
    retries: u32,
    tools: Arc<dyn Toolbox>,
    payload_factory: Arc<dyn PayloadFactory>,
    limits: AgentLimits,
    /// The tool calls that the current answer has requested so far.
    incoming_calls: Vec<IncomingCall>,
    /// True if the current answer has requested calls that are not allowed any more.
    has_refused_calls: bool,
    /// Separates the current answer's text from control text and metadata.
    filter: ControlFilter,
    /// Detect repetition in the current answer's text and in its thinking.
    text_repetition: RepetitionDetector,
    thinking_repetition: RepetitionDetector,
    /// True if the user has been told that a payload for the panel is being written.
    has_announced_payload: bool,
    /// The finish reason of the current model call, once the server has sent it.
    finish_reason: Option<FinishReason>,
    /// The number of parts that are being checked, and the finish reason of an answer that waits for them.
    open_checks: usize,
    finish_after_checks: Option<FinishReason>,
    correction: Correction,
    /// The server's words for withholding the current answer.
    refusal: Option<String>,
    /// The names of unreadable contents of the current answer.
    unreadable: Vec<String>,
    /// True if the text ends with a note about content that can't be shown.
    ends_with_note: bool,
    /// The start of the present thinking.
    thinking_since: Option<Timestamp>,
    /// The first output of the current model call.
    output_since: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The model was called and has sent nothing yet.
    AwaitingModel,
    /// The model has begun to answer.
    Streaming,
    /// The call failed and a retry is scheduled.
    Retrying,
    /// Tools are running.
    RunningTools,
    Ended,
}

impl Agent {
    /// Creates the agent of a run. `message` is empty for a new run and holds the earlier output when a run
    /// is continued.
    pub fn new(
        message: AssistantMessage,
        tools: Arc<dyn Toolbox>,
        payload_factory: Arc<dyn PayloadFactory>,
        limits: AgentLimits,
    ) -> Self {
        Self {
            node: message.nodes.len(),
            message,
            phase: Phase::AwaitingModel,
            started_at: Timestamp(0),
            retries: 0,
            tools,
            payload_factory,
            limits,
            incoming_calls: Vec::new(),
            has_refused_calls: false,
            filter: ControlFilter::new(Vec::new(), control::DEFAULT_MAX_CONTROL_BYTES),
            text_repetition: RepetitionDetector::new(0),
            thinking_repetition: RepetitionDetector::new(0),
            has_announced_payload: false,
            finish_reason: None,
            open_checks: 0,
            finish_after_checks: None,
            correction: Correction::default(),
            refusal: None,
            unreadable: Vec::new(),
            ends_with_note: false,
            thinking_since: None,
            output_since: None,
        }
    }

    /// Returns the output of the run so far.
    pub fn message(&self) -> &AssistantMessage {
        &self.message
    }

    /// Returns true if the model has begun to answer the current call.
    pub fn is_streaming(&self) -> bool {
        self.phase == Phase::Streaming
    }

    /// Returns true if a model call is in progress.
    fn is_model_turn(&self) -> bool {
        matches!(self.phase, Phase::AwaitingModel | Phase::Streaming)
    }

    /// Processes an input that occurred at `at` and returns the effects to perform.
    pub fn step(&mut self, input: Input, at: Timestamp) -> Vec<Effect> {
        if self.phase == Phase::Ended {
            return Vec::new();
        }
        let mut effects = Vec::new();
        if thinking::ends_thinking(&input) {
            effects.extend(self.end_thinking(at));
        }
        effects.extend(self.handle(input, at));
        effects
    }

    fn handle(&mut self, input: Input, at: Timestamp) -> Vec<Effect> {
        match input {
            Input::Start => {
                self.started_at = at;
                self.start_or_resume_calls(at)
            }
            Input::RetryDue if self.phase == Phase::Retrying => {
                self.phase = Phase::AwaitingModel;
                vec![self.call_effect()]
            }
            // The call has already ended or has not begun: the timer is late.
            Input::RetryDue => Vec::new(),
            Input::Model(_)
            | Input::ImageStored(_)
            | Input::UsageKnown(_)
            | Input::CallFailed(_)
            | Input::StreamEnded
                if !self.is_model_turn() =>
            {
                Vec::new()
            }
            Input::UsageKnown(usage) => vec![self.log(RunEvent::Usage(usage))],
            Input::Model(event) => self.model_event(event, at),
            Input::ImageStored(file) => self.add_image(file),
            Input::ToolProgress { index, progress } => self.tool_progress(index, progress),
            Input::ToolEnded { index, done } => self.tool_ended(index, done, at),
            Input::ApprovalAnswered { index, allowed } => self.approval_answered(index, allowed, at),
            Input::CallFailed(error) => self.model_call_failed(error, at),
            Input::StreamEnded => self.break_off(RunStatus::Interrupted, stream_broke_off(), at),
            Input::TimedOut(timeout) => {
                let status = match timeout {
                    Timeout::FirstToken(_) => RunStatus::Failed,
                    Timeout::Silence(_) | Timeout::Run(_) => RunStatus::Interrupted,
                };
                self.break_off(status, timeout_error(timeout), at)
            }
            Input::Checked(checked) => self.checked(checked, at),
            Input::TooLong(limit) => self.answer_limit_reached(limit, at),
            Input::HandOver => self.hand_over(at),
            Input::Activity(message) => vec![self.log(RunEvent::Status { message })],
            Input::RestoreFailed(cause) => {
                // It may be the first input.
                if self.started_at == Timestamp(0) {
                    self.started_at = at;
                }
                self.break_off(RunStatus::Failed, session_not_restored(&cause), at)
            }
            Input::Stop => self.end_run(RunStatus::Stopped, None, at),
            Input::Shutdown => self.break_off(RunStatus::Interrupted, shut_down(), at),
        }
    }

    fn model_event(&mut self, event: ModelEvent, at: Timestamp) -> Vec<Effect> {
        // A call that has only been counted can still be repeated.
        if !matches!(event, ModelEvent::Usage(_) | ModelEvent::InputCounted(_)) {
            self.phase = Phase::Streaming;
        }
        self.note_output(&event, at);
        match event {
            ModelEvent::Thinking(text) | ModelEvent::Text(text) if text.is_empty() => Vec::new(),
            ModelEvent::Thinking(text) => {
                let (part, offset) = self.delta_position(|part| matches!(part, Part::Thinking { .. }));
                let is_looping = self.thinking_repetition.push(&text, false);
                let thinking = self.log(RunEvent::Thinking {
                    node: self.node,
                    part,
                    offset,
                    text,
                    took_ms: 0,
                });
                let mut effects = vec![thinking];
                if is_looping {
                    effects.extend(self.end_repeating_answer(at));
                }
                effects
            }
            ModelEvent::Text(text) => {
                let text = self.separate_from_note(text);
                let mut items = Vec::new();
                self.filter.push(&text, &mut items);
                let mut effects = self.apply_items(items);
                effects.extend(self.announce_payload());
                if self
                    .text_repetition
                    .push(&text, self.filter.pending_payload_kind().is_some())
                {
                    effects.extend(self.end_repeating_answer(at));
                }
                effects
            }
            ModelEvent::ToolCall { index, id, name } => self.add_incoming_call(index, id, name),
            ModelEvent::ToolArguments { index, delta } => {
                if let Some(call) = self.incoming_calls.iter_mut().find(|call| call.index == index) {
                    call.arguments.push_str(&delta);
                }
                Vec::new()
            }
            // The driver sends the totals as `Input::UsageKnown`.
            ModelEvent::Usage(_) | ModelEvent::InputCounted(_) => Vec::new(),
            ModelEvent::TextWasThinking => self.convert_text_to_thinking(at),
            ModelEvent::Sources(sources) => self.add_server_sources(sources),
            ModelEvent::ProviderData { target, data } => self.store_provider_data(target, data),
            ModelEvent::Refusal(explanation) => {
                self.refusal = Some(explanation);
                Vec::new()
            }
            ModelEvent::Unreadable { what, .. } => self.add_unreadable_note(&what),
            ModelEvent::Note(text) => self.add_note(&format!("*({text})*")),
            // The driver stores it and sends `Input::ImageStored`.
            ModelEvent::Image(_) => Vec::new(),
            ModelEvent::Finished(reason) => {
                let mut items = Vec::new();
                self.filter.finish(&mut items);
                let mut effects = self.apply_items(items);
                match self.open_checks {
                    0 => effects.extend(self.model_finished(reason, at)),
                    _ => self.finish_after_checks = Some(reason),
                }
                effects
            }
        }
    }

    /// Ends an answer that repeats itself. The text so far is kept.
    fn end_repeating_answer(&mut self, at: Timestamp) -> Vec<Effect> {
        let error = repeating_answer(self.limits.max_repetitions);
        self.break_off(RunStatus::Failed, error, at)
    }

    /// Calls the model to fill the next node.
    fn start_model_call(&mut self) -> Vec<Effect> {
        self.node = self.message.nodes.len();
        self.filter = text::filter_for(
            &self.message,
            self.payload_factory.markers(),
            self.limits.has_metadata,
        );
        self.text_repetition = RepetitionDetector::new(self.limits.max_repetitions);
        self.thinking_repetition = RepetitionDetector::new(self.limits.max_repetitions);
        self.has_announced_payload = false;
        // A corrected answer begins a paragraph of its own.
        self.ends_with_note = self.correction.begin_call() && self.ends_with_text();
        self.refusal = None;
        self.unreadable.clear();
        self.phase = Phase::AwaitingModel;
        self.retries = 0;
        let status = RunEvent::Status {
            message: WAITING_FOR_MODEL.into(),
        };
        vec![self.log(status), self.call_effect()]
    }

    fn call_effect(&mut self) -> Effect {
        // The requests of a failed call are discarded.
        self.incoming_calls.clear();
        self.has_refused_calls = false;
        self.finish_reason = None;
        (self.open_checks, self.finish_after_checks) = (0, None);
        self.output_since = None;
        Effect::CallModel {
            with_tools: self.may_use_tools(),
        }
    }

    /// Returns true if the current model call may request tools.
    fn may_use_tools(&self) -> bool {
        self.node < self.limits.max_iterations
    }

    fn model_call_failed(&mut self, error: ModelError, at: Timestamp) -> Vec<Effect> {
        let wait = match error.kind {
            ModelErrorKind::Unavailable { after } if self.phase == Phase::AwaitingModel => {
                retry_wait(after, self.retries + 1)
            }
            _ => None,
        };
        if let Some(wait) = wait {
            self.retries += 1;
            self.phase = Phase::Retrying;
            let message = format!("{} Trying again...", error.error.message);
            return vec![
                self.log(RunEvent::Status { message }),
                Effect::ScheduleRetry(wait),
            ];
        }
        match error.kind {
            ModelErrorKind::StreamBroken => self.break_off(RunStatus::Interrupted, error.error, at),
            ModelErrorKind::Refused | ModelErrorKind::Unavailable { .. } => {
                self.break_off(RunStatus::Failed, error.error, at)
            }
        }
    }

    /// Returns the part and the offset of the next delta: the end of the last part if it is of the right
    /// kind, else a new part.
    fn delta_position(&self, same_kind: impl Fn(&Part) -> bool) -> (usize, usize) {
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

    fn log(&mut self, event: RunEvent) -> Effect {
        let applied = apply_to_run(&mut self.message, &event);
        debug_assert!(
            applied.is_some(),
            "the agent produced an inconsistent event: {event:?}"
        );
        Effect::Log(event)
    }
}
