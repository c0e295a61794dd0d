//! Calls for models whose template takes fewer of them in a message, or no words besides them.

use std::collections::VecDeque;

use parlor_model::{ModelMessage, ToolUse};

/// Gives each call a message of its own, with its output behind it. Returns `None` if no message has several.
pub fn one_call_each(messages: &[ModelMessage]) -> Option<Vec<ModelMessage>> {
    if !has_call_groups(messages) {
        return None;
    }
    let mut separated = Vec::with_capacity(messages.len() * 2);
    let mut waiting: VecDeque<ToolUse> = VecDeque::new();
    for message in messages {
        match message {
            ModelMessage::Assistant {
                text,
                thinking,
                tool_calls,
                provider_data,
            } => {
                waiting = tool_calls.iter().cloned().collect();
                separated.push(ModelMessage::Assistant {
                    text: text.clone(),
                    thinking: thinking.clone(),
                    tool_calls: waiting.pop_front().into_iter().collect(),
                    provider_data: provider_data.clone(),
                });
            }
            ModelMessage::Tool { .. } => {
                separated.push(message.clone());
                separated.extend(waiting.pop_front().map(|call| ModelMessage::Assistant {
                    text: String::new(),
                    thinking: None,
                    tool_calls: vec![call],
                    provider_data: Vec::new(),
                }));
            }
            ModelMessage::System(_) | ModelMessage::User(_) | ModelMessage::File(_) => {
                separated.push(message.clone());
            }
        }
    }
    Some(separated)
}

/// Leaves out the words that a message has besides its calls. Returns `None` if there are none.
pub fn without_call_texts(messages: &[ModelMessage]) -> Option<Vec<ModelMessage>> {
    if !has_call_texts(messages) {
        return None;
    }
    let mut shortened = messages.to_vec();
    for message in &mut shortened {
        if let ModelMessage::Assistant { text, tool_calls, .. } = message
            && !tool_calls.is_empty()
        {
            text.clear();
        }
    }
    Some(shortened)
}

/// Returns true if any message has several calls.
pub fn has_call_groups(messages: &[ModelMessage]) -> bool {
    messages.iter().any(|message| calls(message).len() > 1)
}

/// Returns true if any message has words besides its calls.
pub fn has_call_texts(messages: &[ModelMessage]) -> bool {
    messages.iter().any(has_call_text)
}

fn has_call_text(message: &ModelMessage) -> bool {
    matches!(message, ModelMessage::Assistant { text, tool_calls, .. } if !text.is_empty() && !tool_calls.is_empty())
}

fn calls(message: &ModelMessage) -> &[ToolUse] {
    match message {
        ModelMessage::Assistant { tool_calls, .. } => tool_calls,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_model::roles::order_violation;

    fn asked(text: &str, ids: &[&str]) -> ModelMessage {
        let call = |id: &&str| ToolUse {
            id: (*id).into(),
            name: "look".into(),
            arguments: "{}".into(),
            provider_data: Vec::new(),
        };
        ModelMessage::Assistant {
            text: text.into(),
            thinking: None,
            tool_calls: ids.iter().map(call).collect(),
            provider_data: Vec::new(),
        }
    }

    fn output(id: &str) -> ModelMessage {
        ModelMessage::Tool {
            tool_use_id: id.into(),
            output: "x".into(),
        }
    }

    #[test]
    fn each_call_stands_before_its_output() {
        let question = || ModelMessage::User("Why?".into());
        let messages = [
            question(),
            asked("I look.", &["1", "2", "3"]),
            output("1"),
            output("2"),
            output("3"),
            asked("", &["4"]),
            output("4"),
        ];
        let separated = one_call_each(&messages).unwrap();
        assert_eq!(
            separated,
            [
                question(),
                asked("I look.", &["1"]),
                output("1"),
                asked("", &["2"]),
                output("2"),
                asked("", &["3"]),
                output("3"),
                asked("", &["4"]),
                output("4"),
            ]
        );
        assert_eq!(order_violation(&separated), None);
        assert_eq!(one_call_each(&separated), None);
        let silent = without_call_texts(&separated).unwrap();
        assert_eq!(silent[1], asked("", &["1"]));
        assert_eq!(without_call_texts(&silent), None);
    }
}
