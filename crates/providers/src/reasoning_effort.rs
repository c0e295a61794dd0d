//! The reasoning effort of OpenAI's protocols.

use parlor_protocol::ThinkingLevel;

/// Returns the effort of a level. The effort has no value for `On`: then the field is left out, and the model thinks as
/// it does by default.
pub fn reasoning_effort(level: ThinkingLevel) -> Option<&'static str> {
    match level {
        ThinkingLevel::Off => Some("none"),
        ThinkingLevel::On => None,
        level => Some(level.as_str()),
    }
}
