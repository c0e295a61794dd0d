//! The end of a model's answer: its validation and the next step of the run.

use super::{
    Agent, Effect, Phase,
    errors::{
        answer_too_long, content_filtered, empty_answer, malformed_call, no_answer_after_tools,
        only_thinking, unreadable_answer,
    },
};
use parlor_protocol::{
    FinishReason, JoinedPartKind, RunError, RunEvent, RunStatus, Timestamp, transcript::apply_to_run,
};

impl Agent {
    /// Ends the run or starts the requested calls, after the model has sent its finish reason.
    pub(super) fn model_finished(&mut self, reason: FinishReason, at: Timestamp) -> Vec<Effect> {
        let is_malformed = reason == FinishReason::MalformedFunctionCall;
        let held_back = reason
            .is_withheld()
            .then(|| content_filtered(&reason, self.refusal.as_deref()));
        self.finish_reason = Some(reason);
        if held_back.is_some() {
            return self.end_run(RunStatus::Failed, held_back, at);
        }
        if self
            .finish_reason
            .as_ref()
            .is_some_and(FinishReason::is_cut_short)
        {
            self.mark_cut_calls();
        }
        // Some servers send another finish reason although there are calls.
        if !self.incoming_calls.is_empty() {
            return self.dispatch_calls(at);
        }
        if self.correction.is_due() {
            return self.start_model_call();
        }
        if self.has_refused_calls {
            self.finish_reason = Some(FinishReason::ToolLimit);
        }
        let error = is_malformed
            .then(malformed_call)
            .or_else(|| self.empty_answer_error());
        let status = match error {
            Some(_) => RunStatus::Failed,
            None => RunStatus::Complete,
        };
        self.end_run(status, error, at)
    }

    /// Ends an answer that has reached Parlor's size limit. If it has content, the run completes as at the
    /// model's own length limit.
    pub(super) fn answer_limit_reached(&mut self, limit: usize, at: Timestamp) -> Vec<Effect> {
        self.finish_reason = Some(FinishReason::Length);
        let mut items = Vec::new();
        self.filter.break_off(&mut items);
        let mut effects = self.apply_items(items);
        let is_answer = self.incoming_calls.is_empty() && self.empty_answer_error().is_none();
        effects.extend(match is_answer {
            true => self.end_run(RunStatus::Complete, None, at),
            false => self.end_run(RunStatus::Failed, Some(answer_too_long(limit)), at),
        });
        effects
    }

    /// Ends the run before its next model call, for a message of the user.
    pub(super) fn hand_over(&mut self, at: Timestamp) -> Vec<Effect> {
        self.finish_reason = Some(FinishReason::Steered);
        self.end_run(RunStatus::Complete, None, at)
    }

    /// Ends the run before the natural end of the model's answer.
    pub(super) fn break_off(&mut self, status: RunStatus, error: RunError, at: Timestamp) -> Vec<Effect> {
        let mut items = Vec::new();
        self.filter.break_off(&mut items);
        let mut effects = self.apply_items(items);
        effects.extend(self.end_run(status, Some(error), at));
        effects
    }

    /// Returns the time in milliseconds since the run was started or last resumed.
    pub(super) fn elapsed_ms(&self, now: Timestamp) -> u64 {
        // The clock may have been set back.
        now.0
            .saturating_sub(self.started_at.0)
            .try_into()
            .unwrap_or_default()
    }

    pub(super) fn end_run(
        &mut self,
        status: RunStatus,
        error: Option<RunError>,
        at: Timestamp,
    ) -> Vec<Effect> {
        self.phase = Phase::Ended;
        let event = RunEvent::run_ended(status, error, at, self.elapsed_ms(at))
            .with_finish_reason(self.finish_reason.take())
            .quiet_if(self.message.found_nothing_new());
        apply_to_run(&mut self.message, &event);
        vec![Effect::End(event)]
    }

    /// Returns the error of an answer without content: no text and no payload after the last tool.
    fn empty_answer_error(&self) -> Option<RunError> {
        // It has said so by its call.
        if self.message.found_nothing_new() {
            return None;
        }
        let joined_parts = self.message.joined_parts();
        let is_call = |kind: &JoinedPartKind| matches!(kind, JoinedPartKind::ToolCall(_));
        let since_tools = joined_parts
            .iter()
            .rev()
            .take_while(|joined| !is_call(&joined.kind));
        let mut has_thought = false;
        for joined in since_tools {
            match joined.kind {
                JoinedPartKind::Payload(_) | JoinedPartKind::File(_) => return None,
                JoinedPartKind::Text if joined.texts.iter().any(|text| !text.trim().is_empty()) => {
                    return None;
                }
                JoinedPartKind::Thinking => has_thought = true,
                JoinedPartKind::Text | JoinedPartKind::ToolCall(_) => {}
            }
        }
        let has_called = joined_parts.iter().any(|joined| is_call(&joined.kind));
        Some(if !self.unreadable.is_empty() {
            unreadable_answer(&self.unreadable)
        } else if self.has_refused_calls {
            no_answer_after_tools()
        } else if has_thought {
            only_thinking(self.finish_reason.as_ref())
        } else if has_called {
            no_answer_after_tools()
        } else {
            empty_answer()
        })
    }
}
