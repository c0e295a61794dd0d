//! The reasons for the end of an answer.

use serde_json::Value;

use crate::model::FinishReason;

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

pub fn is_unspecified(reason: &str) -> bool {
    reason.is_empty() || reason.ends_with("_UNSPECIFIED")
}

/// Returns the reason for this protocol's name of it. Any other is abnormal.
pub fn parse_finish_reason(reason: &str) -> FinishReason {
    match reason {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
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
