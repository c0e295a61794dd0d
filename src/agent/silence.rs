//! Whether a model that has finished has given an answer.

use super::{
    Agent,
    ends::{empty_answer, no_answer_after_tools, only_thought, unreadable},
};
use crate::protocol::{PieceKind, RunError};

impl Agent {
    /// Why what the model has said is no answer; `None` if it is one: there is text, or something for the panel, after the last tool.
    pub(super) fn silence(&self) -> Option<RunError> {
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
