//! The ends of a response: its reasons and its errors.

use serde_json::{Value, json};

use super::wire::StreamEvent;
use parlor_model::FinishReason;

/// Words in the reason of an incomplete response at the maximum length, as "max_output_tokens".
const LENGTH_WORDS: [&str; 3] = ["token", "length", "context"];

/// Returns the reason of an incomplete response, which is withheld or cut short.
pub fn incomplete_reason(reason: &str) -> FinishReason {
    match FinishReason::from(reason.to_owned()) {
        known if known.is_withheld() || known.is_cut_short() => known,
        _ if LENGTH_WORDS.iter().any(|word| reason.contains(word)) => FinishReason::Length,
        _ => FinishReason::PauseTurn,
    }
}

/// Converts an `error` event, whose fields may be in an object of their own, to its description.
pub fn to_error_value(event: StreamEvent) -> Value {
    match event.error {
        Some(error) => error,
        None => json!({ "message": event.message, "code": event.code }),
    }
}
