//! The ends of a message: its reasons and their explanations.

use super::wire::StopDetails;
use crate::refusal::{constant_words, refusal_event};
use parlor_model::{FinishReason, ModelEvent};

/// Returns the explanation of a refusal, or at least its category.
pub fn explain(details: &StopDetails) -> Option<ModelEvent> {
    refusal_event([&*details.explanation, &constant_words(&details.category, "")])
}

/// Returns the reason for this protocol's name of it. An unknown name is an ordinary end.
pub fn parse_stop_reason(reason: &str) -> FinishReason {
    match reason {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "tool_use" => FinishReason::ToolCalls,
        // The answer goes on behind the summary.
        "compaction" => FinishReason::PauseTurn,
        _ => FinishReason::from(reason.to_owned()),
    }
}
