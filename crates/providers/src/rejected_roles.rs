//! Rejections of the order of roles. The history of every conversation alternates; what is left are orders that only some
//! templates take: files behind the outputs of tools, instructions, and tool outputs at all.

use super::{error_phrases::normalized_message, rejections::AnyFeature};
use parlor_model::{ModelError, ModelMessage, roles::separate_tool_files};

/// Phrases for roles in a wrong order, in lower case and without quotation marks and apostrophes.
const ORDER_PHRASES: [&str; 15] = [
    // The templates of Mistral, Gemma and others; mistral-common; AWS Bedrock.
    "roles must alternate",
    "must alternate between user and assistant",
    "roles should be alternating",
    "conversation alternates between user and assistant",
    "should alternate with assistant message",
    "after role tool",
    "after role user",
    "expected last role user or tool",
    // Anthropic.
    "user roles in a row",
    "assistant roles in a row",
    "first message must use the user role",
    // Google.
    "multiturn requests alternate",
    "ensure that function call turn",
    "function response turn comes immediately",
    // Others.
    "must start with a user message",
];

/// Phrases for a template without tool outputs, in the same form.
const TOOL_ROLE_PHRASES: [&str; 9] = [
    "only user and assistant roles",
    "only user and model roles",
    "unexpected role tool",
    "unexpected role: tool",
    "unknown role tool",
    "unknown role: tool",
    "unsupported role: tool",
    "invalid role: tool",
    "tool role is not supported",
];

/// Returns the feature to give up if a server rejects the roles of these messages, the mildest first. `sends_system` is true
/// if the instructions can be sent otherwise.
pub fn rejected_roles<F>(
    messages: &[ModelMessage],
    sends_system: bool,
    error: &ModelError,
) -> Option<AnyFeature<F>> {
    // Templates fail inside the server, which some servers report as an internal error.
    let text = normalized_message(error);
    let contains = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    let is_order = contains(&ORDER_PHRASES);
    let has_instructions = matches!(messages.first(), Some(ModelMessage::System(_)));
    let sends_system = sends_system && has_instructions;
    let has_outputs = || {
        messages
            .iter()
            .any(|message| matches!(message, ModelMessage::Tool { .. }))
    };
    if is_order && separate_tool_files(messages).is_some() {
        Some(AnyFeature::ToolFiles)
    } else if is_order && sends_system && !text.contains("optional system") {
        Some(AnyFeature::System)
    } else if (is_order || contains(&TOOL_ROLE_PHRASES) && !sends_system) && has_outputs() {
        Some(AnyFeature::ToolRoles)
    } else {
        None
    }
}
