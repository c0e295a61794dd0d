//! The reasons for the end of an answer.

use serde_json::Value;

use super::wire::SafetyRating;
use crate::refusal::{constant_words, refusal_event};
use parlor_model::{FinishReason, ModelEvent};

/// The beginning of the names of categories.
const CATEGORY_PREFIX: &str = "HARM_CATEGORY_";

/// Returns the error of an answer that the model ended for an abnormal reason.
pub fn abnormal_end(reason: &str, message: Option<&str>) -> Value {
    let why = message
        .filter(|message| !message.is_empty())
        .unwrap_or(match reason {
            "LANGUAGE" => "the language is not supported",
            "MALFORMED_RESPONSE" => "the model's answer was malformed",
            "NO_IMAGE" => "the model made no image",
            "TOO_MANY_TOOL_CALLS" => "the model called too many tools",
            _ => "no cause was given",
        });
    format!("the answer ended abnormally, with the reason {reason} ({why})").into()
}

/// Returns the explanation of a prompt that was blocked before any answer.
pub fn explain_block(reason: &str, message: &str, ratings: &[SafetyRating]) -> Option<ModelEvent> {
    let why = match categories(ratings) {
        causes if causes.is_empty() => constant_words(reason, ""),
        causes => causes,
    };
    refusal_event([message, &format!("The prompt was blocked: {why}.")])
}

/// Returns the explanation of an answer that was withheld.
pub fn explain_end(reason: &str, message: &str, ratings: &[SafetyRating]) -> Option<ModelEvent> {
    let why = match (categories(ratings), reason) {
        // The error says this already.
        (causes, "SAFETY") => causes,
        (causes, _) if causes.is_empty() => constant_words(reason, ""),
        (causes, _) => causes,
    };
    refusal_event([message, &why])
}

/// Returns the categories that led to a block.
fn categories(ratings: &[SafetyRating]) -> String {
    let is_cause = |rating: &&SafetyRating| rating.blocked || rating.probability == "HIGH";
    let causes = ratings.iter().filter(is_cause);
    let words: Vec<String> = causes
        .map(|rating| constant_words(&rating.category, CATEGORY_PREFIX))
        .collect();
    words.join(", ")
}

pub fn is_unspecified(reason: &str) -> bool {
    reason.is_empty() || reason.ends_with("_UNSPECIFIED")
}

/// Returns the reason for this protocol's name of it. Any other is abnormal.
pub fn parse_finish_reason(reason: &str) -> FinishReason {
    match reason {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        // Google says STOP; servers that imitate its protocol name the calls.
        "FUNCTION_CALL" | "TOOL_CALLS" => FinishReason::ToolCalls,
        "SAFETY" | "IMAGE_SAFETY" => FinishReason::Safety,
        "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION"
        | "MODEL_ARMOR" => FinishReason::ContentFilter,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => FinishReason::MalformedFunctionCall,
        other => FinishReason::from(other.to_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_may_end_for_its_calls() {
        for reason in ["FUNCTION_CALL", "TOOL_CALLS"] {
            assert_eq!(parse_finish_reason(reason), FinishReason::ToolCalls);
        }
        assert_eq!(parse_finish_reason("ODD"), FinishReason::Other("odd".to_owned()));
    }
}
