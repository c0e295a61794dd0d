//! Rejections of requests because of thinking, as the servers word them.

use crate::rejection_text::RejectionText;
use parlor_model::{ModelError, ModelErrorKind};

/// The rejected part of a choice of thinking.
pub(super) enum RejectedThinking {
    /// The server takes no choice.
    Field,
    /// The server rejects this choice alone, as far as is known.
    Choice,
}

/// Returns the part of a choice of thinking that the server has rejected.
pub(super) fn thinking_choice_rejection(error: &ModelError) -> Option<RejectedThinking> {
    const NO_FIELD: [&str; 7] = [
        "unsupported parameter",
        "not support parameter",
        "unknown parameter",
        "unrecognized",
        "unexpected",
        "extra_forbidden",
        "not permitted",
    ];
    let names = [
        "reasoning_effort",
        "reasoning",
        "enable_thinking",
        "chat_template_kwargs",
    ];
    let text = RejectionText::from_error(error).filter(|text| text.rejects(&names))?;
    Some(match text.contains(&NO_FIELD) {
        true => RejectedThinking::Field,
        false => RejectedThinking::Choice,
    })
}

/// Returns true if the server has rejected the field with the model's thinking.
pub(super) fn is_thinking_rejection(error: &ModelError) -> bool {
    // mistral-common names its own type.
    let names = ["reasoning_content", "ThinkChunk"];
    error.kind == ModelErrorKind::Refused && names.iter().any(|name| error.error.message.contains(name))
}
