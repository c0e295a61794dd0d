//! The end of a model's answer: whether it is one, and how the run goes on.

use super::{
    Agent, Effect,
    ends::{
        empty_answer, held_back, malformed_call, no_answer_after_tools, only_thought, too_much, unreadable,
    },
};
use crate::protocol::{FinishReason, PieceKind, RunError, RunStatus, Timestamp};

impl Agent {
    /// Takes the reason for which the model stopped.
    pub(super) fn finished(&mut self, reason: FinishReason, at: Timestamp) -> Vec<Effect> {
        let is_malformed = reason == FinishReason::MalformedFunctionCall;
        let held_back = reason.is_held_back().then(|| held_back(&reason));
        self.reason = Some(reason);
        if held_back.is_some() {
            return self.end(RunStatus::Failed, held_back, at);
        }
        // Some servers name another reason, though there are calls.
        if !self.asked.is_empty() {
            return self.ask_tools(at);
        }
        let error = is_malformed.then(malformed_call).or_else(|| self.silence());
        let status = match error {
            Some(_) => RunStatus::Failed,
            None => RunStatus::Complete,
        };
        self.end(status, error, at)
    }

    /// The answer is as long as Parlor takes: it ends as at a limit of the model's own, if there is one.
    pub(super) fn reach_limit(&mut self, limit: usize, at: Timestamp) -> Vec<Effect> {
        self.reason = Some(FinishReason::Length);
        let mut items = Vec::new();
        self.filter.break_off(&mut items);
        let mut effects = self.take_in(items);
        let is_answer = self.asked.is_empty() && self.silence().is_none();
        effects.extend(match is_answer {
            true => self.end(RunStatus::Complete, None, at),
            false => self.end(RunStatus::Failed, Some(too_much(limit)), at),
        });
        effects
    }

    /// Returns the error if the model has given no answer: no text and nothing for the panel after the last tool.
    fn silence(&self) -> Option<RunError> {
        let pieces = self.message.pieces();
        let is_call = |kind: &PieceKind| matches!(kind, PieceKind::Tool(_));
        let since_tools = pieces.iter().rev().take_while(|piece| !is_call(&piece.kind));
        let mut has_thought = false;
        for piece in since_tools {
            match piece.kind {
                PieceKind::Payload(_) => return None,
                PieceKind::Text if piece.texts.iter().any(|text| !text.trim().is_empty()) => return None,
                PieceKind::Thinking => has_thought = true,
                PieceKind::Text | PieceKind::Tool(_) => {}
            }
        }
        let has_called = pieces.iter().any(|piece| is_call(&piece.kind));
        Some(if !self.unread.is_empty() {
            unreadable(&self.unread)
        } else if has_thought {
            only_thought(self.reason.as_ref())
        } else if has_called {
            no_answer_after_tools()
        } else {
            empty_answer()
        })
    }
}
