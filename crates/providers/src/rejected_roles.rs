//! Rejections of the order of roles. The history of every conversation alternates; what is left are orders that only some
//! templates take: several calls in a message, words besides calls, files behind the outputs of tools, instructions, and tool
//! outputs at all.

use super::{
    error_phrases::normalized_message,
    fallback_calls::{has_call_groups, has_call_texts},
    rejections::AnyFeature,
};
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
    "unexpected role tool",
    "unexpected role: tool",
    "unknown role tool",
    "unknown role: tool",
    "unsupported role: tool",
    "invalid role tool",
    "invalid role: tool",
    "tool role is not supported",
    "unexpected message role",
];

/// Phrases for a template that takes one call in a message, in the same form.
const ONE_CALL_PHRASES: [&str; 6] = [
    // Llama 3.
    "only supports single tool-calls at once",
    "only supports single tool calls",
    "only one tool call",
    "single tool call per message",
    "multiple tool calls are not supported",
    "parallel tool calls are not supported",
];

/// Phrases for a message with words and calls, in the same form.
const CALL_TEXT_PHRASES: [&str; 2] = [
    // Mistral.
    "either content or tool_calls, but not both",
    "content or tool calls, but not both",
];

/// The words between which a server lists the only roles that it takes, and the maximum length of the list in bytes.
const ONLY: &str = "only ";
const ARE_TAKEN: [&str; 3] = [" roles", " are supported", " are allowed"];
const MAX_LIST_BYTES: usize = 80;

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
    let roles = only_roles(&text);
    let lacks = |role: &str| roles.is_some_and(|roles| !roles.contains(role));
    let is_system_optional = ["optional system", "initial system"]
        .iter()
        .any(|phrase| text.contains(phrase));
    let has_instructions = matches!(messages.first(), Some(ModelMessage::System(_)));
    let sends_system = sends_system && has_instructions && !is_system_optional;
    let has_outputs = || {
        messages
            .iter()
            .any(|message| matches!(message, ModelMessage::Tool { .. }))
    };
    if contains(&ONE_CALL_PHRASES) && has_call_groups(messages) {
        Some(AnyFeature::CallGroups)
    } else if contains(&CALL_TEXT_PHRASES) && has_call_texts(messages) {
        Some(AnyFeature::CallTexts)
    } else if is_order && separate_tool_files(messages).is_some() {
        Some(AnyFeature::ToolFiles)
    } else if sends_system && (is_order || lacks("system")) {
        Some(AnyFeature::System)
    } else if has_outputs() && (is_order || lacks("tool") || contains(&TOOL_ROLE_PHRASES)) {
        Some(AnyFeature::ToolRoles)
    } else {
        None
    }
}

/// Returns the list of roles in a text such as "Only user and assistant roles are supported!".
fn only_roles(text: &str) -> Option<&str> {
    text.match_indices(ONLY).find_map(|(at, _)| {
        let rest = &text[at + ONLY.len()..];
        let end = ARE_TAKEN.iter().filter_map(|words| rest.find(words)).min()?;
        let list = &rest[..end];
        let names_model = list.contains("assistant") || list.contains("model");
        (list.len() <= MAX_LIST_BYTES && list.contains("user") && names_model).then_some(list)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_only_roles() {
        for (text, roles) in [
            (
                "only user, system and assistant roles are supported!",
                Some("user, system and assistant"),
            ),
            (
                "invalid role tool. only user, assistant are supported.",
                Some("user, assistant"),
            ),
            ("only user and model roles are supported", Some("user and model")),
            ("only admins have roles", None),
            ("only the user can see it", None),
        ] {
            assert_eq!(only_roles(text), roles, "{text}");
        }
    }
}
