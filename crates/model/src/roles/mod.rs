//! The order of the roles in a request. The templates of some models (Mistral, Gemma) accept no other: the user first, then
//! user and model in turn, tool outputs directly behind their calls, and a message of the model behind these.

use super::ModelMessage;

/// Stands before an answer whose question is missing.
const MISSING_QUESTION: &str = "(The message before this answer is missing.)";

/// Stands between tool outputs and the next question, if the model has said nothing.
const MISSING_ANSWER: &str = "(I said nothing more.)";

/// Stands between tool outputs and their images, for a template that takes no images from tools.
const IMAGES_FOLLOW: &str = "(The next message shows the files that the tools made.)";
const IMAGES_OF_TOOLS: &str = "(These are the files that the tools made.)";

/// Brings messages into the order that any template takes. Files stay with the message before them. Nothing is changed in
/// a conversation that has this order.
pub fn alternate_roles(messages: &mut Vec<ModelMessage>) {
    let mut ordered: Vec<ModelMessage> = Vec::with_capacity(messages.len());
    for message in std::mem::take(messages) {
        // A file belongs to the message before it.
        let last = ordered
            .iter()
            .rposition(|message| !matches!(message, ModelMessage::File(_)));
        let last = last.and_then(|index| ordered.get_mut(index));
        match (last, message) {
            (_, ModelMessage::Assistant { text, tool_calls, .. })
                if text.trim().is_empty() && tool_calls.is_empty() => {}
            (Some(ModelMessage::User(question)), ModelMessage::User(more)) => join(question, &more),
            (Some(ModelMessage::Tool { .. }), message @ ModelMessage::User(_)) => {
                ordered.extend([ModelMessage::assistant(MISSING_ANSWER), message]);
            }
            (
                Some(ModelMessage::Assistant {
                    text,
                    tool_calls: before,
                    provider_data: data,
                    ..
                }),
                ModelMessage::Assistant {
                    text: more,
                    thinking,
                    tool_calls,
                    provider_data,
                },
            ) if before.is_empty() && data.is_empty() => {
                join(text, &more);
                let text = std::mem::take(text);
                // Files between the two were the model's, which no protocol takes at this place.
                while let Some(ModelMessage::File(_)) = ordered.pop() {}
                ordered.push(ModelMessage::Assistant {
                    text,
                    thinking,
                    tool_calls,
                    provider_data,
                });
            }
            (
                None | Some(ModelMessage::System(_) | ModelMessage::Assistant { .. }),
                message @ ModelMessage::Assistant { .. },
            ) => {
                ordered.extend([ModelMessage::User(MISSING_QUESTION.into()), message]);
            }
            (_, message) => ordered.push(message),
        }
    }
    *messages = ordered;
}

/// Separates the files of tools from their outputs by messages of both roles. Returns `None` if there are none.
pub fn separate_tool_files(messages: &[ModelMessage]) -> Option<Vec<ModelMessage>> {
    let is_output = |message: Option<&ModelMessage>| matches!(message, Some(ModelMessage::Tool { .. }));
    let mut separated: Vec<ModelMessage> = Vec::with_capacity(messages.len() + 2);
    for message in messages {
        if matches!(message, ModelMessage::File(_)) && is_output(separated.last()) {
            separated.push(ModelMessage::assistant(IMAGES_FOLLOW));
            separated.push(ModelMessage::User(IMAGES_OF_TOOLS.into()));
        }
        separated.push(message.clone());
    }
    (separated.len() > messages.len()).then_some(separated)
}

fn join(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

/// Returns the first violation of the order, for tests.
pub fn order_violation(messages: &[ModelMessage]) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut last = "system";
    for message in messages {
        let (role, is_allowed) = match message {
            ModelMessage::System(_) => ("system", last == "system"),
            ModelMessage::User(_) => ("user", matches!(last, "system" | "assistant")),
            ModelMessage::File(_) => (last, matches!(last, "user" | "tool")),
            ModelMessage::Assistant { text, tool_calls, .. } => {
                open = tool_calls.iter().map(|call| call.id.as_str()).collect();
                let role = if open.is_empty() { "assistant" } else { "calls" };
                let has_content = !text.trim().is_empty() || !open.is_empty();
                (role, matches!(last, "user" | "tool") && has_content)
            }
            ModelMessage::Tool { tool_use_id, .. } => {
                let is_next = open.first() == Some(&tool_use_id.as_str());
                if is_next {
                    open.remove(0);
                }
                ("tool", is_next && matches!(last, "calls" | "tool"))
            }
        };
        let is_early = role != "tool" && role != "calls" && !open.is_empty();
        if !is_allowed || is_early {
            return Some(format!("{last} before {message:?}"));
        }
        last = role;
    }
    (!matches!(last, "user" | "tool") || !open.is_empty()).then(|| format!("{last} at the end"))
}

#[cfg(test)]
mod tests;
